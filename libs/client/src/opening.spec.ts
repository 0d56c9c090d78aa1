import { FakeClock } from '../../testing/src/index.js';
import { aDocument, json, problem, ScriptedBroker } from '../fixtures/scripted-broker.js';
import { AnswerUnopened, BrokerUnavailable, CallAborted, ClientClosed, ProtocolError } from './errors.js';
import { RequestRefused, Unauthenticated } from './errors.js';
import { SessionBroker } from './session-broker.js';

const PLACE = '(http://b.test, merchant "shop")';
const away = (): Promise<never> =>
  Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }));

describe('a payment that the gateway has answered', () => {
  let clock: FakeClock;
  let server: ScriptedBroker;
  let broker: SessionBroker;

  const opened = async (signal?: AbortSignal): Promise<unknown> => {
    const outcome = broker.decryptText('a.b.c.d.e', { signal }).catch((error: unknown) => error);
    await clock.advance(20_000);
    return outcome;
  };

  beforeEach(() => {
    clock = new FakeClock();
    server = new ScriptedBroker().on('read', () => json(aDocument()));
    const fixed = { url: 'http://b.test', merchant: 'shop', auth: 't', follow: 'none' as const };
    broker = new SessionBroker({ ...fixed, fetch: server.fetch, time: clock, random: () => 0.5 });
  });
  afterEach(() => broker.close());

  it('is told from one that was never sent, when the broker goes away before the answer is opened', async () => {
    server.on('decrypt', away);
    const failure = await opened();
    expect(failure).toBeInstanceOf(AnswerUnopened);
    expect(failure).not.toBeInstanceOf(BrokerUnavailable);
    const message =
      'The gateway has answered, so that the bank has the request, but its answer was not opened. Keep the ' +
      'merchantRequestId and send it under no other: lookUp, a notification or the bank tells what became of it. ' +
      `The broker cannot be reached: ECONNREFUSED ${PLACE}`;
    expect(JSON.parse(JSON.stringify(failure))).toMatchObject({
      ...{ name: 'AnswerUnopened', code: 'answer_unopened', message },
      cause: { name: 'BrokerUnavailable', code: 'network' },
    });
  });

  it('has its answer opened when the broker is back in time', async () => {
    const answers = [away, () => Promise.resolve(json({ plaintext: 'paid' }))];
    server.on('decrypt', () => answers.shift()!());
    expect(await opened()).toBe('paid');
  });

  it.each([
    { what: 'refuses the credential', status: 401, code: 'unauthenticated', kind: Unauthenticated },
    { what: 'cannot open the answer', status: 422, code: 'jwe_not_opened', kind: RequestRefused },
  ])('is told as such when the broker $what', async ({ status, code, kind }) => {
    server.on('decrypt', () => problem(status, code));
    const failure = await opened();
    expect(failure).toBeInstanceOf(AnswerUnopened);
    expect(failure).toMatchObject({ status, cause: expect.any(kind) });
    expect((failure as Error).cause).toMatchObject({ code });
  });

  it('is told as such when the caller ends the opening, its answer is no text, or the client was closed', async () => {
    const causes = [await opened(AbortSignal.abort('the customer went away'))];
    server.on('decrypt', () => json({ plaintext: '/w==', encoding: 'base64' }));
    causes.push(await opened());
    await broker.close();
    causes.push(await opened());
    const expected = [CallAborted, ProtocolError, ClientClosed].map((kind) => ({
      code: 'answer_unopened',
      cause: expect.any(kind),
    }));
    expect(causes).toMatchObject(expected);
  });

  it('is never sent again, though the broker said 401', async () => {
    server.on('decrypt', () => problem(401, 'unauthenticated'));
    for (const wrap of [(error: unknown) => error, (cause: unknown) => new Error('of an SDK', { cause })]) {
      let sent = 0;
      const pay = async (): Promise<string> => {
        sent += 1;
        return broker.decryptText('a.b.c.d.e').catch((error: unknown) => Promise.reject(wrap(error) as Error));
      };
      await expect(broker.withSession(pay)).rejects.toThrow();
      expect(sent).toBe(1);
    }
    expect(server.seen('rejections')).toEqual([]);
  });
});
