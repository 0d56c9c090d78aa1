import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { fetch as undiciFetch } from 'undici';
import { aDocument, json, problem, ScriptedBroker } from '../fixtures/scripted-broker.js';
import {
  AnswerLost,
  answerLost,
  AnswerUnopened,
  BrokerUnavailable,
  CallAborted,
  ClientClosed,
  deadSessionCode,
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
const thrownBy = (lose: () => never): unknown => {
  try {
    return lose();
  } catch (error) {
    return error;
  }
};
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

const page400 = (type: string): object => ({ status: 400, headers: new Headers({ 'content-type': type }) });
/** The answer itself, or the request if there is none. */
const about = (failure: unknown, scheme = 'http:'): { status: number; url: string } | { url: string } => {
  const url = `${scheme}//gateway.test/pay`;
  return failure instanceof Error ? { url } : { ...(failure as { status: number }), url };
};

describe('a payment that was carried out', () => {
  let server: ScriptedBroker;
  let broker: SessionBroker;

  beforeEach(() => {
    server = new ScriptedBroker().on('read', () => json(aDocument({ createdAtMs: Date.now() })));
    const fixed = { url: 'http://b.test', merchant: 'shop', auth: 't', follow: 'none' as const };
    broker = new SessionBroker({ ...fixed, fetch: server.fetch, timeoutMs: 1_000 });
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

  it('is told as such when the caller ends the opening', async () => {
    const { signal } = new AbortController();
    const stopped = AbortSignal.any([signal, AbortSignal.abort('the customer went away')]);
    const failure = await failureOf(broker.decryptText('a.b.c.d.e', { signal: stopped }));
    expect(failure).toBeInstanceOf(AnswerUnopened);
    expect(failure).toMatchObject({ code: 'answer_unopened', cause: expect.any(CallAborted) });
    expect((failure as Error).message).toContain('The caller aborted the call (the customer went away)');
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

  it('is found out by sending it again where it is an order of the hosted page, and no other', async () => {
    const lost = (url: string): Promise<never> =>
      Promise.reject(new TypeError('x')).catch((it) => answerLost(it, { url }));
    const says =
      'what became of it; an order of the hosted page without its hppOrderId is sent again with the same one';
    await expect(lost('http://gateway/ecom/execute_request/hpp/v1/create-order')).rejects.toThrow(says);
    await expect(lost('http://gateway/ecom/execute_request/payments/v3/refund')).rejects.toThrow(/what became of it$/);
  });

  it('is told with its code, in capitals too, and with no other text', () => {
    const about = { status: 500 };
    expect(() => answerLost({ msgCode: 'VALIDATION_ERROR' }, about)).toThrow(
      'used: status 500, VALIDATION_ERROR. Nobody',
    );
    for (const msgCode of ['CANARY', 'VALIDATION_ERROR of canary', 'A_4111111111111111']) {
      expect(() => answerLost({ msgCode }, about)).toThrow('used: status 500. Nobody');
    }
  });

  it.each([
    ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
    ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('was not sent when there was no connection: %s', async (code) => {
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
  });

  const failed = (cause: unknown): TypeError => new TypeError('fetch failed', { cause });
  const ofSystem = (code: string, syscall: string): Error => Object.assign(new Error('canary'), { code, syscall });

  const ofTls = (code: string): Error => Object.assign(new Error('canary'), { code: `ERR_SSL_${code}` });

  it.each<[string, unknown, string]>([
    ['no way to the host', failed(ofSystem('EHOSTUNREACH', 'connect')), 'reached: EHOSTUNREACH. The'],
    [
      'a handshake that is answered without TLS',
      failed(ofTls('WRONG_VERSION_NUMBER')),
      'begin with http://? The request',
    ],
    ['a handshake that is refused', failed(ofTls('SSL/TLS_ALERT_HANDSHAKE_FAILURE')), 'HANDSHAKE_FAILURE. The request'],
    ['a reset while connecting', failed(ofSystem('ECONNRESET', 'connect')), 'reached: ECONNRESET. The'],
    [
      'silence of all addresses of the name',
      failed(
        Object.assign(new AggregateError([ofSystem('ETIMEDOUT', 'connect'), ofSystem('ENETUNREACH', 'connect')]), {
          code: 'ETIMEDOUT',
        }),
      ),
      'reached: ETIMEDOUT. The',
    ],
    [
      'a port that fetch never asks',
      failed(new Error('bad port')),
      'reached: fetch never asks that port ("bad port"). The',
    ],
  ])('was not sent when there was no connection: %s', (_what, cause, says) => {
    expect(() => answerLost(cause)).toThrow(GatewayUnreachable);
    expect(() => answerLost(cause)).toThrow(says);
    expect(() => answerLost(cause)).not.toThrow('canary');
  });

  it.each([401, 404])(
    'was not sent when a broker or an egress answers in the place of the gateway: %d',
    async (status) => {
      const answer = problem(status, 'route_not_found');
      expect(await deadSessionCode(answer)).toBeUndefined();
      const read: unknown = await answer.json();
      const failure = thrownBy(() => answerLost(read, answer));
      expect(failure).toBeInstanceOf(GatewayUnreachable);
      expect(failure).toMatchObject({ code: 'not_the_gateway' });
      expect((failure as Error).message).toContain('It is a broker or an egress that answers there');
    },
  );

  it.each(['answer_late', 'answer_lost', 'internal_error'])(
    'is one of which nobody knows when an egress passed it on and says so: %s',
    (code) => {
      const read = { type: `urn:session-broker:problem:${code}`, code };
      expect(() => answerLost(read, problem(502, code))).toThrow(AnswerLost);
    },
  );

  it('was not sent when the URL of the gateway is none, and its variable may be unset', async () => {
    const failure = await failureOf(fetch('/ecom/execute_request', { method: 'POST' }).catch(answerLost));
    expect(failure).toBeInstanceOf(GatewayUnreachable);
    expect((failure as Error).message).toContain(
      'reached: ERR_INVALID_URL, its URL has to begin with http:// or https://; is its environment variable set? The request was not sent',
    );
  });

  it.each<[string, Parameters<typeof fetch>, string]>([
    [
      'a URL of another scheme',
      ['ftp://gateway.test/', { method: 'POST' }],
      'begin with http:// or https://. The request',
    ],
    [
      'a header that is none',
      ['http://gateway.test/', { headers: { 'x-device_id': 'canary\nline' } }],
      'such as one with a line break. The request',
    ],
    ['a GET with a body', ['http://gateway.test/', { body: '{}' }], 'a GET has no body. The request'],
  ])('was not sent when fetch takes no such request: %s', async (_what, request, says) => {
    for (const asked of [fetch, undiciFetch as unknown as typeof fetch]) {
      const failure = await failureOf(asked(...request).catch(answerLost));
      expect(failure).toBeInstanceOf(GatewayUnreachable);
      expect((failure as Error).message).toContain(says);
      expect((failure as Error).message).not.toContain('canary');
    }
  });

  it('keeps the reason of whoever aborted it, and nobody knows', async () => {
    const signal = AbortSignal.abort(new RangeError('the customer went away'));
    const failure = await failureOf(fetch('http://127.0.0.1:9/', { signal }).catch(answerLost));
    expect(failure).toBeInstanceOf(AnswerLost);
    expect(failure).toMatchObject({ code: 'answer_lost', cause: { message: 'the customer went away' } });
  });

  it.each<[unknown, string]>([
    [new RangeError('the customer went away'), 'RangeError: the customer went away'],
    ['the customer went away', 'the customer went away'],
    [undefined, 'AbortError'],
    [new Error('Bearer canary0123456789'), 'Error'],
    [{ canary: 1 }, 'a reason that is no text'],
  ])('is told as ended by the caller where its signal is given: %p', async (reason, says) => {
    const signal = AbortSignal.abort(reason);
    const aborted = fetch('http://127.0.0.1:9/', { signal });
    const failure = await failureOf(aborted.catch((error: unknown) => answerLost(error, undefined, signal)));
    expect(failure).toBeInstanceOf(AnswerLost);
    expect((failure as Error).message).toContain(`can be used: the caller aborted it (${says}). Nobody knows`);
  });

  const ofItself = new Error('canary');
  ofItself.cause = ofItself;

  it.each<[string, unknown]>([
    ['a connection that broke', failed(ofSystem('ECONNRESET', 'read'))],
    [
      'one that never was and one that broke',
      failed(new AggregateError([ofSystem('ECONNREFUSED', 'connect'), ofSystem('ECONNRESET', 'read')])),
    ],
    ['an error that is its own cause', ofItself],
    ['nothing', undefined],
    ['null', null],
  ])('is one of which nobody knows after %s', (_what, cause) => {
    expect(() => answerLost(cause)).toThrow(AnswerLost);
  });

  it('is asked whether its URL begins with https:// where a connection without TLS was cut off', () => {
    const cutOff = failed(ofSystem('ECONNRESET', 'read'));
    expect(() => answerLost(cutOff, { url: 'http://gateway/pay' })).toThrow(
      'that can be used (does its URL begin with https://?): ECONNRESET. Nobody knows',
    );
    expect(() => answerLost(cutOff, { url: 'https://gateway/pay' })).toThrow(
      'that can be used: ECONNRESET. Nobody knows',
    );
  });

  const HINT = 'does its URL begin with https://?';
  const ofUndici = (bytesRead: number): Error =>
    Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET', socket: { bytesRead } });
  const ofParser = (data: string): Error => Object.assign(new Error('x'), { name: 'HTTPParserError', data });

  it.each<[string, unknown]>([
    ['the connection ended without an answer', failed(ofUndici(0))],
    ['what came is an alert of TLS', failed(ofParser('\u0015\u0003\u0003\u0000\u0002\u0002\u0050'))],
    ['a page says that the port is one of TLS', page400('text/html')],
  ])('is asked so, too, where %s', (_what, cause) => {
    expect(() => answerLost(cause, about(cause))).toThrow(HINT);
    expect(() => answerLost(cause, about(cause, 'https:'))).not.toThrow(HINT);
  });

  it.each<[string, unknown]>([
    ['nothing answered in time', new DOMException('x', 'TimeoutError')],
    ['the gateway was too slow', failed(ofSystem('UND_ERR_HEADERS_TIMEOUT', ''))],
    ['half a head of HTTP came', failed(ofUndici(11))],
    ['something else came that is no HTTP', failed(ofParser('SSH-2.0-OpenSSH'))],
    [
      'an SDK has kept an answer beside it',
      Object.assign(failed(ofSystem('ECONNRESET', 'read')), { response: { status: 502 } }),
    ],
    ['the gateway refuses in its own form', page400('application/json')],
  ])('is not asked so where %s', (_what, cause) => {
    expect(() => answerLost(cause, about(cause))).toThrow(AnswerLost);
    expect(() => answerLost(cause, about(cause))).not.toThrow(HINT);
  });

  it('is one of which nobody knows when its answer breaks off, whatever the code', () => {
    const answer = new Response('', { status: 200 });
    expect(() => answerLost(failed(ofSystem('ECONNREFUSED', 'connect')), answer)).toThrow(AnswerLost);
  });

  const page = (status: number, type: string): Response =>
    new Response('<html>canary', { status, headers: { 'content-type': type } });
  const notJson = new SyntaxError('Unexpected token <: canary');
  const answered = (type: string): Response => page(403, type);

  it.each<[string, () => unknown, string]>([
    [
      'what the gateway says under 5xx',
      () => answerLost({ msgCode: 'b_unknown_error', msgText: 'canary' }, page(500, 'application/json')),
      'can be used: status 500, application/json, b_unknown_error. Nobody',
    ],
    ['a code that is none', () => answerLost({ msgCode: 'B canary' }, page(500, 'a/b')), 'status 500, a/b. Nobody'],
    ['a page of a firewall', () => answerLost(page(403, 'text/html')), 'can be used: status 403, text/html. Nobody'],
    [
      'one with a charset',
      () => answerLost(page(502, 'Text/HTML; canary')),
      'can be used: status 502, text/html. Nobody',
    ],
    [
      'one that is no JSON',
      () => answerLost(notJson, page(200, 'text/html')),
      'status 200, text/html, no JSON. Nobody',
    ],
    ['a type that is none', () => answerLost(notJson, answered('canary')), 'can be used: status 403, no JSON. Nobody'],
    ['a long type', () => answerLost(answered(`text/canary${'x'.repeat(99)}`)), 'can be used: status 403. Nobody'],
    ['no type', () => answerLost(new Response(null, { status: 302 })), 'can be used: status 302. Nobody'],
    ['an answer of another client', () => answerLost({ status: 502, headers: { canary: 1 } }), 'status 502. Nobody'],
    [
      'one that broke off',
      () => answerLost(ofSystem('UND_ERR_SOCKET', 'read'), page(200, 'a/b')),
      'status 200, a/b, UND_ERR_SOCKET.',
    ],
    [
      'a time-out',
      () => answerLost(new DOMException('canary', 'TimeoutError')),
      "can be used: the time of the caller's signal was up (TimeoutError). Nobody",
    ],
    [
      'an abort',
      () => answerLost(new DOMException('canary', 'AbortError')),
      'can be used: the caller aborted it (AbortError). Nobody',
    ],
    [
      'an error that names itself',
      () => answerLost(Object.assign(new Error(''), { name: 'toString' })),
      'can be used. Nobody',
    ],
    ['a place in a list', () => ['canary'].forEach(answerLost as (one: string) => void), 'can be used. Nobody'],
    ['something else', () => answerLost('canary'), 'can be used. Nobody'],
  ])('says what was lost, and no more: %s', (_what, lose, says) => {
    expect(lose).toThrow(AnswerLost);
    expect(lose).toThrow(says);
    expect(lose).not.toThrow('canary');
  });

  it('is told without what was read', () => {
    const lose = (): never => answerLost({ msgCode: 'b_unknown_error', status: 500, path: 'canary' }, page(500, 'a/b'));
    expect(inspect(thrownBy(lose))).not.toContain('canary');
  });

  it('is never told with the body of a page, which its parser quotes', async () => {
    const answer = page(200, 'text/html');
    const failure = await failureOf(answer.json().catch((error: unknown) => answerLost(error, answer)));
    expect(failure).toBeInstanceOf(AnswerLost);
    expect(inspect(failure)).not.toContain('canary');
  });

  it('says that a redirect was met, where fetch follows none', async () => {
    const server = createServer((_request, response) => response.writeHead(307, { location: '/canary' }).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failure = await failureOf(fetch(url, { method: 'POST', redirect: 'error' }).catch(answerLost));
    server.close();
    expect(failure).toBeInstanceOf(AnswerLost);
    expect((failure as Error).message).toContain('No answer of the gateway that can be used: a redirect. Nobody knows');
  });

  it('says that a proxy asked for a credential, of which fetch says nothing', async () => {
    const server = createServer((_request, response) => response.writeHead(407).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failure = await failureOf(fetch(url, { method: 'POST' }).catch(answerLost));
    server.close();
    expect(failure).toBeInstanceOf(AnswerLost);
    expect((failure as Error).message).toContain(
      'can be used: fetch gives no reason, as where a proxy asks for a credential (407). Nobody',
    );
  });

  it('keeps what has been judged already', () => {
    const judged = new AnswerUnopened('answer_unopened', 'judged');
    expect(() => answerLost(judged)).toThrow(judged);
    expect(judged).toBeInstanceOf(SessionBrokerError);
  });
});
