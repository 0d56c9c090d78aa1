import { inspect } from 'node:util';
import {
  answerLost,
  AnswerLost,
  AnswerUnopened,
  BrokerUnavailable,
  deadSessionCode,
  GatewayUnreachable,
  SessionBrokerError,
  SessionRejected,
} from './entries/main.js';
import { problem } from '../fixtures/scripted-broker.js';

const MAX_LINES = 5;
const withoutStack = (error: unknown): string => inspect(error).replace(/\n +at [^\n]*/g, '');
const thrownBy = (lose: () => never): Error => {
  try {
    return lose();
  } catch (error) {
    return error as Error;
  }
};

describe('an error whose cause is an answer', () => {
  const page = new Response('<html>canary', {
    status: 403,
    headers: { 'content-type': 'text/html; charset=utf-8', 'set-cookie': 'canary' },
  });

  it('is printed in a few lines, where it is no gateway that answers', async () => {
    const answer = problem(404, 'route_not_found');
    const failure = thrownBy(() => {
      return answerLost({ type: 'urn:session-broker:problem:route_not_found', code: 'route_not_found' }, answer);
    });
    expect(failure).toBeInstanceOf(GatewayUnreachable);
    expect(failure.cause).toBe(answer);
    const printed = withoutStack(failure);
    expect(printed).toContain(`GatewayUnreachable: ${failure.message}`);
    expect(printed).toContain("code: 'not_the_gateway'");
    expect(printed).toContain("[cause]: { status: 404, contentType: 'application/problem+json' }");
    expect(printed.split('\n').length).toBeLessThanOrEqual(MAX_LINES);
    await expect(answer.json()).resolves.toMatchObject({ code: 'route_not_found' });
  });

  it('is printed so where an egress refuses a session', async () => {
    const body = JSON.stringify({ serviceId: 'session-egress', msgCode: 'b_session_doesnt_exist' });
    const failure = await deadSessionCode(new Response(body, { status: 401 })).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'not_the_gateway' });
    const printed = withoutStack(failure);
    expect(printed).toContain("[cause]: { status: 401, contentType: 'text/plain' }");
    expect(printed.split('\n').length).toBeLessThanOrEqual(MAX_LINES);
  });

  it.each([
    ['whose answer is a page', () => thrownBy(() => answerLost(page))],
    ['whose session was refused', () => new SessionRejected('http_401', { cause: page })],
  ])('is printed without headers and body: %s', (_what, failureOf) => {
    const failure = failureOf();
    for (const options of [{}, { depth: 10, showHidden: true }])
      expect(inspect(failure, options)).not.toMatch(/canary/);
    expect(withoutStack(failure)).toContain("[cause]: { status: 403, contentType: 'text/html' }");
    expect(failure).toBeInstanceOf(SessionBrokerError);
    expect(failure.cause).toBe(page);
  });

  it.each([
    ['it is no gateway that answers', 404, { type: 'urn:session-broker:problem:route_not_found' }],
    ['nobody knows', 500, {}],
  ])(
    'is short where it ends a process, too, which prints it without its own ways of printing: %s',
    (_why, status, read) => {
      const answer = problem(status, 'route_not_found');
      const failure = thrownBy(() => answerLost(status === 404 ? read : answer, answer));
      const printed = inspect(failure, { customInspect: false, showHidden: true });
      expect(printed).not.toMatch(/Headers|ReadableStream|Response \{/);
      expect(printed).toContain(`status ${status}, application/problem+json`);
    },
  );

  it('is printed so within the error of a service, too', () => {
    const failure = new Error('no refund', { cause: thrownBy(() => answerLost(page)) });
    expect(inspect(failure)).toContain("[cause]: { status: 403, contentType: 'text/html' }");
  });

  it('keeps the cause of an error as it is printed everywhere, where that is no answer', () => {
    const failure = new SessionRejected('b_x', { cause: new RangeError('why') });
    expect(inspect(failure)).toContain('[cause]: RangeError: why');
  });
});

/** An error as a merchant SDK makes it: it wraps the original, and every failure has the same code. */
function ofSdk(message: string, originalError: unknown): Error {
  return Object.assign(new Error(`[500] ERROR | 500: ${message}`), { code: '500', originalError });
}

const answered = (text: string, status: number): Error => ofSdk(text, ofSdk(text, { status }));
const ofAxios = (status: number, data: object): Error =>
  Object.assign(new Error('Request failed'), { code: 'ERR_BAD_REQUEST', status, response: { status, data } });
const system = (code: string): Error => Object.assign(new Error(code), { code });
const fetchFailed = (cause: unknown): TypeError => new TypeError('fetch failed', { cause });
const thrownFor = (failure: unknown): unknown => {
  try {
    return answerLost(failure);
  } catch (error) {
    return error;
  }
};

describe('a payment whose failure an SDK has wrapped', () => {
  it.each([
    ['once', (error: Error) => ofSdk('x', error)],
    ['twice', (error: Error) => ofSdk('x', ofSdk('x', error))],
    ['as a cause', (error: Error) => new Error('x', { cause: ofSdk('x', error) })],
  ])('is one that the bank has, or may have, as this package has said: %s', (_how, wrapped) => {
    for (const judged of [new AnswerUnopened('answer_unopened', 'x'), new AnswerLost('answer_lost', 'x')]) {
      expect(thrownFor(wrapped(judged))).toBe(judged);
    }
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'CERT_HAS_EXPIRED', 'ERR_SSL_WRONG_VERSION_NUMBER'])(
    'was not sent: %s',
    (code) => {
      const failure = thrownFor(ofSdk('fetch failed', fetchFailed(system(code))));
      expect(failure).toBeInstanceOf(GatewayUnreachable);
      expect((failure as Error).message).toContain(`The gateway cannot be reached: ${code}`);
    },
  );

  it.each<[string, Error, string]>([
    ['a reset', ofSdk('fetch failed', fetchFailed(system('ECONNRESET'))), 'used: ECONNRESET. Nobody'],
    [
      'half an answer',
      ofSdk('terminated', new TypeError('terminated', { cause: system('UND_ERR_SOCKET') })),
      'UND_ERR_SOCKET',
    ],
    ['a page of a proxy', answered('<html>', 502), 'that can be used: status 502. Nobody'],
    ['a page of another place', answered('<html>', 404), 'that can be used (is its URL right?): status 404. Nobody'],
    [
      'a refusal under 5xx',
      answered('{"msgCode":"b_operation_not_found"}', 500),
      ': status 500, b_operation_not_found. ',
    ],
    ["the gateway's own doubt", answered('{"msgCode":"b_unknown_error"}', 200), 'Nobody knows'],
    ['a code without a status', ofSdk('{"msgCode":"b_operation_not_found"}', undefined), 'Nobody knows'],
    ['a 401 without a code', answered('', 401), 'Nobody knows'],
    ['no validity under 5xx', answered('{"msgCode":"VALIDATION_ERROR"}', 502), 'Nobody knows'],
    ['no validity of another service', ofAxios(400, { code: 'VALIDATION_ERROR' }), 'Nobody knows'],
    ['a code of an egress', answered('{"msgCode":"b_invalid_request","serviceId":"session-egress"}', 400), 'Nobody'],
    ['what the broker said of something else', ofSdk('x', new BrokerUnavailable('network', 'x')), 'Nobody knows'],
    [
      'no connection beside an answer',
      Object.assign(fetchFailed(system('ECONNREFUSED')), { response: { status: 502 } }),
      'Nobody',
    ],
  ])('is one of which nobody knows after %s', (_what, thrown, says) => {
    const failure = thrownFor(thrown);
    expect(failure).toBeInstanceOf(AnswerLost);
    expect((failure as Error).message).toContain(says);
    expect((failure as Error).cause).toBe(thrown);
  });

  it.each([
    ['under 200', answered('{"msgCode":"b_operation_not_found"}', 200)],
    ['under 400', answered('{"msgCode":"b_duplicate_field_value"}', 400)],
    ['as not valid', answered('{"msgCode":"VALIDATION_ERROR","msgType":"VALIDATION_ERROR"}', 400)],
    ['as not valid, in an error as of axios', ofAxios(400, { msgCode: 'VALIDATION_ERROR' })],
  ])('is told as refused, by the error of the SDK as it is, when the gateway refused it %s', (_how, refusal) => {
    expect(thrownFor(refusal)).toBe(refusal);
  });

  it.each([
    ['a management port', 404, { code: 'route_not_found' }],
    ['a broker', 401, { code: 'unauthenticated', detail: 'this is a broker: payments go to the egress' }],
  ])('was not sent when %s answers in the place of the gateway', (_who, status, problem) => {
    const document = { type: `urn:session-broker:problem:${problem.code}`, ...problem };
    for (const wrapped of [answered(JSON.stringify(document), status), ofAxios(status, document)]) {
      const failure = thrownFor(wrapped);
      expect(failure).toBeInstanceOf(GatewayUnreachable);
      expect(failure).toMatchObject({ code: 'not_the_gateway', cause: wrapped });
      expect((failure as Error).message).toContain('It is a broker or an egress that answers there');
    }
  });

  it.each(['unauthenticated', 'forbidden', 'merchant_unknown', 'internal_error'])(
    'is one of which nobody knows where the broker refused something, perhaps to open its answer: %s',
    (code) => {
      const document = { type: `urn:session-broker:problem:${code}`, code };
      expect(thrownFor(ofAxios(401, document))).toBeInstanceOf(AnswerLost);
    },
  );

  it('is told without the page that a parser quotes', () => {
    const failure = thrownFor(ofSdk('canary', new SyntaxError('Unexpected token: canary')));
    expect(failure).toBeInstanceOf(AnswerLost);
    expect(inspect(failure)).not.toContain('canary');
  });
});
