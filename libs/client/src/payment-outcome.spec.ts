import { inspect } from 'node:util';
import { problem } from '../fixtures/scripted-broker.js';
import {
  AnswerLost,
  answerLost,
  AnswerUnopened,
  BrokerUnavailable,
  GatewayUnreachable,
  SessionRejected,
} from './entries/main.js';
import { deadSessionCode } from './payment-outcome.js';

type Lost = Parameters<typeof answerLost>;
const system = (code: string, syscall?: string): Error => Object.assign(new Error('canary'), { code, syscall });
const fetchFailed = (cause: unknown): TypeError => new TypeError('fetch failed', { cause });
/** An error as a merchant SDK makes it: it wraps the original, and every failure has the same code. */
const ofSdk = (message: string, originalError: unknown): Error =>
  Object.assign(new Error(message), { code: '500', originalError });
const answered = (text: string, status: number): Error => ofSdk('x', ofSdk(text, { status }));
const ofAxios = (status: number, data: unknown): Error =>
  Object.assign(new Error('Request failed'), { status, response: { status, data } });
const thrownBy = (...parts: Lost): Error => {
  try {
    return answerLost(...parts);
  } catch (error) {
    return error as Error;
  }
};
const page = (status: number, type: string): Response =>
  new Response('<html>canary', { status, headers: { 'content-type': type, 'set-cookie': 'canary' } });

describe('a payment without an answer', () => {
  it.each([
    ...['ERR_INVALID_URL', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
    ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ...['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'],
  ])('was not sent where the code says so, however it is wrapped: %s', (code) => {
    const failed = fetchFailed(system(code));
    for (const cause of [failed, ofSdk('x', failed), new Error('x', { cause: ofSdk('x', failed) })]) {
      const failure = thrownBy(cause, { url: 'https://user:canary@gateway.test/canary?canary' });
      expect(failure).toBeInstanceOf(GatewayUnreachable);
      expect(failure).toMatchObject({ code: 'gateway_unreachable', cause });
      expect(failure.message).toBe(
        `The gateway at https://gateway.test cannot be reached: ${code}. The request was not sent, and may be sent again ` +
          'with the same merchantRequestId',
      );
    }
  });

  it.each<[string, unknown]>([
    ['of one address', system('EHOSTUNREACH', 'connect')],
    ['that was reset', system('ECONNRESET', 'connect')],
    ['of any address', new AggregateError([system('ETIMEDOUT', 'connect'), system('ENETUNREACH', 'connect')])],
  ])('was not sent where it was the system that could not connect: %s', (_what, cause) => {
    expect(thrownBy(fetchFailed(cause))).toBeInstanceOf(GatewayUnreachable);
  });

  const ofItself = new Error('canary');
  ofItself.cause = ofItself;

  it.each<[string, unknown, string]>([
    ['a connection that broke', fetchFailed(system('ECONNRESET', 'read')), 'used: ECONNRESET. Nobody'],
    [
      'one address refused and one that broke',
      fetchFailed(new AggregateError([system('ECONNREFUSED', 'connect'), system('ECONNRESET', 'read')])),
      'used. Nobody',
    ],
    ['a port that fetch never asks', fetchFailed(new Error('bad port')), 'used. Nobody'],
    ['a time-out', new DOMException('canary', 'TimeoutError'), 'used: TimeoutError. Nobody'],
    ['an abort', new DOMException('canary', 'AbortError'), 'used: AbortError. Nobody'],
    ['an error that is its own cause', ofItself, 'used. Nobody'],
    ['half an answer', ofSdk('terminated', fetchFailed(system('UND_ERR_SOCKET'))), 'used: UND_ERR_SOCKET. Nobody'],
    ['a page of a proxy', answered('<html>canary', 502), 'used: status 502. Nobody'],
    ['a refusal under 5xx', answered('{"msgCode":"b_operation_not_found"}', 500), 'status 500, b_operation_not_found.'],
    ["the gateway's own doubt", answered('{"msgCode":"b_unknown_error"}', 200), 'Nobody'],
    ['a code without a status', ofSdk('{"msgCode":"b_operation_not_found"}', undefined), 'Nobody'],
    ['a code within a text', answered('failed: {"msgCode":"b_operation_not_found"}', 400), 'used: status 400. Nobody'],
    ['a 401 without a code', answered('', 401), 'Nobody'],
    ['no validity under 5xx', answered('{"msgCode":"VALIDATION_ERROR"}', 502), 'Nobody'],
    ['a code of an egress', answered('{"msgCode":"b_invalid_request","serviceId":"session-egress"}', 400), 'Nobody'],
    ['what the broker said of something else', ofSdk('x', new BrokerUnavailable('network', 'x')), 'Nobody'],
    ['a 401 of the broker', ofAxios(401, { type: 'urn:session-broker:problem:unauthenticated' }), 'Nobody'],
    [
      'no connection beside an answer',
      Object.assign(fetchFailed(system('ECONNREFUSED')), { response: { status: 502 } }),
      'Nobody',
    ],
  ])('is one of which nobody knows after %s', (_what, cause, says) => {
    const failure = thrownBy(cause);
    expect(failure).toBeInstanceOf(AnswerLost);
    expect(failure).toMatchObject({ cause });
    expect(failure.message).toContain(`No answer of the gateway that can be used`);
    expect(failure.message).toContain(says);
    expect(failure.message).toContain(
      'send it under no other: lookUp, a notification or the bank tells what became of it',
    );
    expect(failure.message).not.toContain('canary');
  });

  it.each([undefined, null, 'canary', 5, { msgCode: 5 }])('is one of which nobody knows after %p', (cause) => {
    expect(thrownBy(cause)).toBeInstanceOf(AnswerLost);
    expect(inspect(thrownBy(cause))).not.toContain('canary');
  });

  it.each<[string, string, Lost]>([
    ['answer_late', 'a time-out', [new DOMException('x', 'TimeoutError')]],
    ['answer_late', "undici's own time-out", [fetchFailed(system('UND_ERR_HEADERS_TIMEOUT')), page(200, 'a/b')]],
    ['answer_lost', 'a reset', [fetchFailed(system('ECONNRESET', 'read'))]],
    ['answer_lost', 'an abort', [new DOMException('x', 'AbortError')]],
    ['answer_lost', 'half an answer', [system('UND_ERR_SOCKET'), page(200, 'a/b')]],
    ['answer_lost', 'nothing that is known', [new Error('x')]],
    ['answer_unusable', 'a page', [page(403, 'text/html')]],
    ['answer_unusable', 'an answer in the error of an SDK', [answered('<html>canary', 502)]],
  ])('is told by the word of the egress: %s, of %s', (code, _what, parts) => {
    expect(thrownBy(...parts)).toMatchObject({ name: 'AnswerLost', code });
  });

  it.each([
    ['itself', (error: Error) => error],
    ['in an SDK', (error: Error) => ofSdk('x', ofSdk('x', error))],
    ['as a cause', (error: Error) => new Error('x', { cause: ofSdk('x', error) })],
  ])('is one that the bank has, or may have, as this package has said: %s', (_how, wrapped) => {
    for (const judged of [new AnswerUnopened('answer_unopened', 'x'), new AnswerLost('answer_lost', 'x')]) {
      expect(thrownBy(wrapped(judged))).toBe(judged);
    }
  });

  it.each([
    ['under 200', answered('{"msgCode":"b_operation_not_found"}', 200)],
    ['under 400', answered('{"msgCode":"b_duplicate_field_value"}', 400)],
    ['as not valid', answered('{"msgCode":"VALIDATION_ERROR"}', 400)],
    ['as not valid, in an error as of axios', ofAxios(400, { msgCode: 'VALIDATION_ERROR' })],
  ])('is told as refused, by the error as it came, where the gateway refused it %s', (_how, refusal) => {
    expect(thrownBy(refusal)).toBe(refusal);
  });
});

describe('a payment with an answer that is none', () => {
  it.each<[string, Lost, string]>([
    [
      'what the gateway says under 5xx',
      [{ msgCode: 'b_unknown_error', msgText: 'canary' }, page(500, 'application/json')],
      'used: status 500, application/json, b_unknown_error. Nobody',
    ],
    ['a code that is none', [{ msgCode: 'B canary' }, page(500, 'a/b')], 'used: status 500, a/b. Nobody'],
    ['a page of a firewall', [page(403, 'text/html')], 'used: status 403, text/html. Nobody'],
    ['one with a charset', [page(502, 'Text/HTML; canary')], 'used: status 502, text/html. Nobody'],
    ['one that is no JSON', [new SyntaxError('canary'), page(200, 'text/html')], 'used: status 200, text/html. Nobody'],
    ['a type that is none', [page(403, 'canary')], 'used: status 403. Nobody'],
    ['an answer of another client', [{ status: 502, headers: { canary: 1 } }], 'used: status 502. Nobody'],
    [
      'one that broke off',
      [system('UND_ERR_SOCKET'), page(200, 'a/b')],
      'used: status 200, a/b, UND_ERR_SOCKET. Nobody',
    ],
    ['one that broke off, whatever the code', [system('ECONNREFUSED'), page(200, 'a/b')], 'ECONNREFUSED. Nobody'],
  ])('is one of which nobody knows, and nothing of the answer is printed: %s', (_what, parts, says) => {
    const failure = thrownBy(...parts);
    expect(failure).toBeInstanceOf(AnswerLost);
    expect(failure.message).toContain(says);
    const [cause] = parts;
    if (!(cause instanceof Error)) expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain('canary');
    if (cause instanceof SyntaxError) expect(failure.cause).toBeUndefined();
  });

  it('has an answer as its cause by status and content type alone', () => {
    const kept = { status: 403, contentType: 'text/html' };
    expect(thrownBy(page(403, 'text/html')).cause).toEqual(kept);
    expect(new SessionRejected('http_401', { cause: page(403, 'text/html') }).cause).toEqual(kept);
  });

  it.each([
    [
      'a management port',
      thrownBy(ofAxios(404, { type: 'urn:session-broker:problem:route_not_found', code: 'route_not_found' })),
    ],
    ['a broker', thrownBy({ type: 'urn:session-broker:problem:unauthenticated' }, problem(401, 'unauthenticated'))],
  ])('was not sent where %s answers in the place of the gateway', (_who, failure) => {
    expect(failure).toBeInstanceOf(GatewayUnreachable);
    expect(failure).toMatchObject({ code: 'not_the_gateway' });
    expect(failure.message).toContain('It is a broker or an egress that answers there');
  });

  it.each(['answer_late', 'answer_lost', 'internal_error'])(
    'is one of which nobody knows when an egress passed it on and says so: %s',
    (code) => {
      const read = { type: `urn:session-broker:problem:${code}`, code };
      expect(thrownBy(read, problem(502, code))).toBeInstanceOf(AnswerLost);
    },
  );

  it('was not sent where an egress refuses the session, of which it knows nothing', () => {
    const data = { serviceId: 'session-egress', msgCode: 'b_session_doesnt_exist' };
    const headers = new Headers({ 'content-type': 'text/plain' });
    expect(() => deadSessionCode({ status: 401, headers, data })).toThrow(GatewayUnreachable);
    expect(() => deadSessionCode({ status: 401, headers, data })).toThrow('(status 401, text/plain)');
  });
});
