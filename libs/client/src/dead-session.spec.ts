import { deadSessionCode } from './payment-outcome.js';
import {
  AnswerLost,
  AnswerUnopened,
  BrokerUnavailable,
  Forbidden,
  SessionRejected,
  Unauthenticated,
} from './errors.js';

const DEAD = [
  'b_expired_token',
  'b_used_token',
  'b_previous_auth_token_expired',
  'b_unknown_device',
  'b_session_doesnt_exist',
  'b_session_doesnt_exists',
];

/** An error body as the gateway writes it. */
const body = (msgCode: string): object => ({
  requestId: 'a1',
  serviceId: 'ecom',
  msgCode,
  msgType: 'ERROR',
  msgText: 'Text',
  isLocalized: false,
  msgAttrs: {},
  errorCauses: [],
});

type Shape = (status: number, msgCode: string) => unknown;
const errorWith = (members: object, message = 'Request failed'): Error => Object.assign(new Error(message), members);

/** Where clients of the gateway keep an error answer. */
const shapes: Readonly<Record<string, Shape>> = {
  'an answer of undici': (statusCode, code) => ({ statusCode, headers: {}, body: body(code) }),
  'an answer of undici, read as text': (statusCode, code) => ({ statusCode, body: JSON.stringify(body(code)) }),
  'an answer of undici, read as octets': (statusCode, code) => ({
    statusCode,
    body: Buffer.from(JSON.stringify(body(code))),
  }),
  'an error of undici': (statusCode, code) => errorWith({ code: 'UND_ERR_RESPONSE', statusCode, body: body(code) }),
  'an error of axios': (status, code) =>
    errorWith({
      code: status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE',
      config: { data: '{"msgCode":"b_auth_token_expired"}' },
      response: { status, data: body(code), headers: {} },
    }),
  'an error of axios with an unread buffer': (status, code) =>
    errorWith({ response: { status, data: new TextEncoder().encode(JSON.stringify(body(code))).buffer } }),
  'an error of the published SDK': (status, code) =>
    errorWith({ code: String(status), originalError: { status } }, JSON.stringify(body(code))),
  'an error that an SDK wraps': (status, code) =>
    errorWith({ code: '500', originalError: errorWith({ originalError: { status } }, JSON.stringify(body(code))) }),
  'an error that is the cause of another': (status, code) =>
    new Error('the payment failed', { cause: errorWith({ response: { status, data: body(code) } }) }),
};
/** Failures that carry no status. */
const bodies: Readonly<Record<string, (msgCode: string) => unknown>> = {
  'a body': body,
  'a body as text': (code) => JSON.stringify(body(code)),
  'a body as octets': (code) => Buffer.from(JSON.stringify(body(code))),
  'an error with the body in its members': (code) => errorWith(body(code)),
};

describe('a dead session', () => {
  it.each(Object.entries(shapes))('is known by its code, whatever the status: %s', (_what, shape) => {
    const failures = DEAD.flatMap((code) =>
      [200, 400, 401, 500].map((status) => ({ code, made: shape(status, code) })),
    );
    for (const { code, made } of failures) {
      expect(deadSessionCode(made)).toBe(code);
    }
  });

  it.each(Object.entries(bodies))('is known by its code without a status: %s', (_what, shape) => {
    for (const code of DEAD) expect(deadSessionCode(shape(code))).toBe(code);
    expect(deadSessionCode(shape('b_operation_not_found'))).toBeUndefined();
    expect(deadSessionCode(shape('b_auth_token_expired'))).toBeUndefined();
  });

  it.each(Object.entries(shapes))('is known by HTTP 401 with any other code: %s', (_what, shape) => {
    expect(deadSessionCode(shape(401, 'b_unheard_of'))).toBe('http_401');
    expect(deadSessionCode(shape(400, 'b_unheard_of'))).toBeUndefined();
    expect(deadSessionCode(shape(500, 'b_unknown_error'))).toBeUndefined();
  });

  it.each(Object.entries(shapes))('is never one whose access was revoked: %s', (_what, shape) => {
    const verdicts = [200, 400, 401].map((status) => deadSessionCode(shape(status, 'b_auth_token_expired')));
    expect(verdicts).toEqual([undefined, undefined, undefined]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 401],
    ['an error of the network', errorWith({ code: 'ECONNRESET', cause: errorWith({ code: 'ECONNRESET' }) })],
    ['a declined card', errorWith({ response: { status: 200, data: { status: 'FAIL', jwe: 'a.b.c.d.e' } } })],
    ['a body that calls something of its own 401', errorWith({ response: { status: 200, data: { status: 401 } } })],
    ['a text that quotes a code', 'POST failed with 500: {"msgCode":"b_used_token"}'],
    ['an error that quotes one', new Error('failed: {"msgCode":"b_used_token"} (Request ID: N/A)')],
    ['a page of a firewall', errorWith({ response: { status: 403, data: '<html>b_expired_token</html>' } })],
    ['a request that quotes a code', errorWith({ config: { data: JSON.stringify(body('b_used_token')) } })],
    ['the broker that does not know the caller', new Unauthenticated('unauthenticated', 'No', { status: 401 })],
    [
      'an error because of that',
      new Error('failed', { cause: new Unauthenticated('unauthenticated', 'No', { status: 401 }) }),
    ],
    ['the broker that allows it not', new Forbidden('forbidden', 'No', { status: 403 })],
    ['a payment that the bank may have', errorWith({ status: 401, cause: new AnswerLost('answer_lost', 'x') })],
    ['a payment that the bank has', errorWith({ status: 401, cause: new AnswerUnopened('answer_unopened', 'x') })],
    [
      'a report that failed, though it was of a dead session',
      new BrokerUnavailable('network', 'No', { cause: new SessionRejected('b_expired_token') }),
    ],
  ])('is not %s', (_what, failure) => {
    expect(deadSessionCode(failure)).toBeUndefined();
  });

  it('is what somebody has called so already, also within the error of an SDK', () => {
    expect(deadSessionCode(new SessionRejected('b_used_token'))).toBe('b_used_token');
    expect(deadSessionCode(errorWith({ code: '500', originalError: new SessionRejected('http_401') }))).toBe(
      'http_401',
    );
    expect(deadSessionCode(new SessionRejected('b_auth_token_expired'))).toBeUndefined();
  });
});

describe('whatever is asked whether a session is dead', () => {
  const throwing = (): never => {
    throw new Error('a trap');
  };
  const cyclic = (): object => {
    const error: Error & { originalError?: unknown; response?: object } = new Error('{}');
    error.cause = error;
    error.originalError = error;
    error.response = { data: error, error };
    return error;
  };
  const nested = (depth: number): unknown =>
    depth === 0 ? { status: 401, data: body('b_used_token') } : { cause: nested(depth - 1) };

  it.each<[string, () => unknown]>([
    ['a cycle', cyclic],
    ['a function', () => throwing],
    ['a depth of thousands', () => nested(5_000)],
    ['a text of ten million braces', () => '{'.repeat(10_000_000)],
    ['a message of megabytes', () => new Error(JSON.stringify({ a: 'x'.repeat(5_000_000), ...body('b_used_token') }))],
  ])('does no harm: %s', (_what, make) => {
    expect(deadSessionCode(make())).toBeUndefined();
  });

  it('is found behind five wrappings and no more, and under getters', () => {
    expect(deadSessionCode(nested(5))).toBe('b_used_token');
    expect(deadSessionCode(nested(6))).toBeUndefined();
    const guarded = Object.defineProperties(new Error('failed'), {
      response: { get: () => ({ status: 400, data: body('b_used_token') }) },
      originalError: { get: throwing },
    });
    expect(deadSessionCode(guarded)).toBe('b_used_token');
  });
});
