import { aDocument, json, problem, ScriptedBroker } from '../fixtures/scripted-broker.js';
import {
  AnswerLost,
  answerLost,
  AnswerUnopened,
  BrokerUnavailable,
  ClientClosed,
  GatewayUnreachable,
  ProtocolError,
  RequestRefused,
  SessionBrokerError,
  Unauthenticated,
} from './entries/main.js';
import { SessionBroker } from './session-broker.js';

const PLACE = '(http://b.test, merchant "shop")';
const away = (): Promise<never> =>
  Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }));
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe('a payment that was carried out', () => {
  let server: ScriptedBroker;
  let broker: SessionBroker;

  beforeEach(() => {
    server = new ScriptedBroker().on('read', () => json(aDocument({ createdAtMs: Date.now() })));
    const fixed = { url: 'http://b.test', merchant: 'shop', auth: 't', follow: 'none' as const };
    broker = new SessionBroker({ ...fixed, fetch: server.fetch, timeoutMs: 100 });
  });
  afterEach(() => broker.close());

  it('is told from one that was never sent, when the broker goes away before the answer is opened', async () => {
    await broker.session();
    server.on('decrypt', away);
    const failure = await failureOf(broker.decryptText('a.b.c.d.e'));
    expect(failure).toBeInstanceOf(AnswerUnopened);
    expect(failure).not.toBeInstanceOf(BrokerUnavailable);
    expect(failure).toMatchObject({ code: 'answer_unopened', cause: expect.any(BrokerUnavailable) });
    expect((failure as Error).message).toBe(
      'The gateway has answered, so that the bank has the request, but its answer was not opened. Keep the ' +
        'merchantRequestId and send it under no other: a notification or the bank tells what became of it. ' +
        `The broker cannot be reached: ECONNREFUSED ${PLACE}`,
    );
    expect(JSON.parse(JSON.stringify(failure))).toEqual({
      name: 'AnswerUnopened',
      code: 'answer_unopened',
      message: (failure as Error).message,
      cause: {
        name: 'BrokerUnavailable',
        code: 'network',
        message: `The broker cannot be reached: ECONNREFUSED ${PLACE}`,
      },
    });
  });

  it('has its answer opened when the broker is back in time', async () => {
    const answers = [away, () => Promise.resolve(json({ plaintext: 'paid' }))];
    server.on('decrypt', () => answers.shift()!());
    const fixed = { url: 'http://b.test', merchant: 'shop', auth: 't', follow: 'none' as const };
    const patient = new SessionBroker({ ...fixed, fetch: server.fetch });
    expect(await patient.decryptText('a.b.c.d.e')).toBe('paid');
    await patient.close();
  });

  it.each([
    { what: 'refuses the credential', status: 401, code: 'unauthenticated', kind: Unauthenticated },
    { what: 'cannot open the answer', status: 422, code: 'jwe_not_opened', kind: RequestRefused },
  ])('is told as such when the broker $what', async ({ status, code, kind }) => {
    server.on('decrypt', () => problem(status, code));
    const failure = await failureOf(broker.decrypt('a.b.c.d.e'));
    expect(failure).toBeInstanceOf(AnswerUnopened);
    expect(failure).toMatchObject({ status, cause: expect.any(kind) });
    expect((failure as { cause: unknown }).cause).toMatchObject({ code });
  });

  it('is told as such when its answer is no text, and when the client was closed meanwhile', async () => {
    server.on('decrypt', () => json({ plaintext: '/w==', encoding: 'base64' }));
    expect(await failureOf(broker.decryptText('a.b.c.d.e'))).toMatchObject({
      code: 'answer_unopened',
      cause: expect.any(ProtocolError),
    });
    await broker.close();
    expect(await failureOf(broker.decryptText('a.b.c.d.e'))).toMatchObject({
      code: 'answer_unopened',
      cause: expect.any(ClientClosed),
    });
  });

  it('is never sent again, whatever the caller takes for a rejection', async () => {
    server.on('decrypt', () => problem(401, 'unauthenticated'));
    for (const wrap of [(error: unknown) => error, (cause: unknown) => new Error('of an SDK', { cause })]) {
      let sent = 0;
      const pay = async (): Promise<string> => {
        sent += 1;
        return broker.decryptText('a.b.c.d.e').catch((error: unknown) => Promise.reject(wrap(error) as Error));
      };
      await expect(broker.withSession(pay, { isRejection: () => true })).rejects.toThrow();
      expect(sent).toBe(1);
    }
    expect(server.seen('rejections')).toEqual([]);
  });

  it('may be one whose answer was lost, which nobody knows', async () => {
    const gateway = (code: string): Promise<never> =>
      Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('canary'), { code }) }));
    const paying = broker.withSession(() => gateway('ECONNRESET').catch(answerLost));
    const failure = await failureOf(paying);
    expect(failure).toBeInstanceOf(AnswerLost);
    expect(failure).toMatchObject({ code: 'answer_lost', cause: expect.any(TypeError) });
    expect((failure as Error).message).toBe(
      'No answer of the gateway that can be used: ECONNRESET. Nobody knows whether the bank has the request. Keep the ' +
        'merchantRequestId and send it under no other: a notification or the bank tells what became of it',
    );
    expect(JSON.stringify(failure)).toContain('"code":"answer_lost"');
    expect(JSON.stringify(failure)).not.toContain('canary');
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])(
    'was not sent when there was no connection: %s',
    async (code) => {
      const noConnection = new TypeError('fetch failed', { cause: Object.assign(new Error('canary'), { code }) });
      const failure = await failureOf(broker.withSession(() => Promise.reject(noConnection).catch(answerLost)));
      expect(failure).toBeInstanceOf(GatewayUnreachable);
      expect(failure).not.toBeInstanceOf(AnswerLost);
      expect(JSON.parse(JSON.stringify(failure))).toEqual({
        name: 'GatewayUnreachable',
        code: 'gateway_unreachable',
        message:
          `The gateway cannot be reached: ${code}. The request was not sent, and may be sent again with the same ` +
          'merchantRequestId',
      });
    },
  );

  it.each<[string, unknown, string]>([
    ['a page of a proxy', new Response('<html>', { status: 502 }), 'can be used: status 502.'],
    ['a time-out', new DOMException('The operation was aborted', 'TimeoutError'), 'can be used: TimeoutError.'],
    ['something else', 'canary', 'can be used. Nobody'],
  ])('says what was lost, and no more: %s', (_what, cause, says) => {
    expect(() => answerLost(cause)).toThrow(says);
    expect(() => answerLost(cause)).not.toThrow('canary');
  });

  it('keeps what has been judged already', () => {
    const judged = new AnswerUnopened('answer_unopened', 'judged');
    expect(() => answerLost(judged)).toThrow(judged);
    expect(judged).toBeInstanceOf(SessionBrokerError);
  });
});
