import { inspect } from 'node:util';
import fc from 'fast-check';
import { instantFromEpochMs } from '#libs/clock';
import { GatewayFailure } from '#libs/session';
import { readAnswer, readText, type SealedSession } from './answer-reader.js';
import type { AnswerHeaders } from '#libs/outbound';
import type { GatewayAnswer } from './gateway-answer.js';
import { anAnswer } from './gateway-fixtures.js';
import { parseRetryAfterMs } from './retry-after.js';

const CANARY = 'canary-7f3a';

const outcome = (answer: GatewayAnswer): SealedSession | GatewayFailure => {
  try {
    return readAnswer(answer);
  } catch (error) {
    if (error instanceof GatewayFailure) return error;
    throw error;
  }
};

const failure = (answer: GatewayAnswer): GatewayFailure => {
  const result = outcome(answer);
  if (result instanceof GatewayFailure) return result;
  throw new Error('the answer was taken for a session');
};

const text = (body: string): Uint8Array => new TextEncoder().encode(body);

describe('an answer with a session', () => {
  it.each([[undefined], ['application/json'], ['text/plain'], ['application/jose; charset=x'], ['']])(
    'is taken under the media type %p',
    (type) => {
      const answer = anAnswer({ jwe: 'a.b.c.d.e' }, { headers: { 'content-type': type } });
      expect(readAnswer(answer)).toEqual({ jwe: 'a.b.c.d.e', marks: { httpStatus: 200 } });
    },
  );

  it('is taken with a byte order mark, unknown fields and the status 201', () => {
    const body = text('\uFEFF {"jwe":"a.b.c.d.e","more":{"jwe":1}}\n');
    expect(readAnswer(anAnswer(body, { httpStatus: 201 })).jwe).toBe('a.b.c.d.e');
  });

  it('comes with the date and the request id of the gateway', () => {
    const headers = { date: 'Thu, 01 Jan 2026 00:00:05 GMT', 'x-request_id': 'req-1' };
    expect(readAnswer(anAnswer({ jwe: 'x', requestId: 'req-2' }, { headers }))).toEqual({
      jwe: 'x',
      gatewayDate: Date.UTC(2026, 0, 1, 0, 0, 5),
      marks: { httpStatus: 200, requestId: 'req-1' },
    });
    expect(readAnswer(anAnswer({ jwe: 'x', requestId: 'req-2' })).marks.requestId).toBe('req-2');
  });

  it('comes without a date when that was sent twice or is not a date', () => {
    const twice = ['Thu, 01 Jan 2026 00:00:05 GMT', 'Thu, 01 Jan 2026 00:00:06 GMT'];
    expect('gatewayDate' in readAnswer(anAnswer({ jwe: 'x' }, { headers: { date: twice } }))).toBe(false);
    expect('gatewayDate' in readAnswer(anAnswer({ jwe: 'x' }, { headers: { date: 'today' } }))).toBe(false);
  });
});

describe('an answer without a session', () => {
  const error = (msgCode: string, msgType = 'ERROR') => ({ msgCode, msgType, requestId: 'req-1', msgText: CANARY });

  it.each([
    [503, error('b_server_is_overloaded'), 'transient'],
    [200, error('b_overload_error'), 'transient'],
    [500, error('b_unknown_error'), 'transient'],
    [404, error('b_service_unavailable'), 'transient'],
    [403, error('b_overload_error'), 'transient'],
    [200, error('b_auth_token_expired'), 'revoked'],
    [401, error('b_auth_token_expired'), 'revoked'],
    [200, error('b_merchant_not_found'), 'refused'],
    [200, error('b_terminal_not_found'), 'refused'],
    [200, error('b_virtual_device_not_found'), 'refused'],
    [200, error('b_invalid_request'), 'refused'],
    [500, error('b_encryptor_failed_decrypt_message'), 'refused'],
    [200, error('b_something', 'VALIDATION_ERROR'), 'refused'],
    [400, error('b_something'), 'refused'],
    [403, error('b_something'), 'refused'],
    [200, error('b_something'), 'transient'],
    [401, error('b_previous_auth_token_expired'), 'transient'],
    [418, error('b_something'), 'transient'],
    [429, error('b_something'), 'transient'],
  ])('%d %j is a failure that keeps the code', (httpStatus, body, kind) => {
    expect(failure(anAnswer(body, { httpStatus }))).toMatchObject({
      kind,
      httpStatus,
      msgCode: body.msgCode,
      requestId: 'req-1',
    });
  });

  it.each([
    [200, '', 'transient'],
    [204, '', 'transient'],
    [200, '<html>', 'transient'],
    [200, '{}', 'invalid_response'],
    [200, '{"jwe":""}', 'invalid_response'],
    [200, '{"jwe":{"jwe":"x"}}', 'invalid_response'],
    [200, '["jwe"]', 'invalid_response'],
    [200, 'null', 'invalid_response'],
    [200, '"a.b.c.d.e"', 'invalid_response'],
    [200, '{"msgType":"ERROR"}', 'transient'],
    [302, '', 'invalid_response'],
    [304, '{"jwe":"x"}', 'invalid_response'],
    [400, '<html>', 'refused'],
    [401, '', 'transient'],
    [403, '', 'refused'],
    [404, '', 'transient'],
    [408, '', 'transient'],
    [429, '', 'transient'],
    [500, '{"jwe":"x"}', 'transient'],
    [502, '<html>', 'transient'],
    [599, '', 'transient'],
  ])('%d with the body %p is a failure, %s', (httpStatus, body, kind) => {
    expect(failure(anAnswer(text(body), { httpStatus })).kind).toBe(kind);
  });

  it('says that an answer was too long or compressed, unless its status says enough', () => {
    const unread = (httpStatus: number, reason: 'too_large' | 'encoded'): GatewayAnswer => ({
      ...anAnswer({}, { httpStatus }),
      body: { kind: 'refused', reason },
    });
    expect(failure(unread(200, 'too_large'))).toMatchObject({ kind: 'invalid_response' });
    expect(failure(unread(200, 'too_large')).detail).toMatch('too long');
    expect(failure(unread(200, 'encoded')).detail).toMatch('compressed');
    expect(failure(unread(503, 'too_large')).kind).toBe('transient');
  });

  it('asks for the delay that Retry-After names, by the clock of the gateway', () => {
    const headers = { 'retry-after': 'Thu, 01 Jan 2026 02:00:10 GMT', date: 'Thu, 01 Jan 2026 02:00:00 GMT' };
    expect(failure(anAnswer({}, { httpStatus: 429, headers })).retryAfterMs).toBe(10_000);
    expect(failure(anAnswer({}, { httpStatus: 503, headers: { 'retry-after': '7' } })).retryAfterMs).toBe(7_000);
    expect(failure(anAnswer({}, { httpStatus: 503, headers: { 'retry-after': 'soon' } })).retryAfterMs).toBeUndefined();
  });

  it.each([['x'.repeat(65)], ['a b'], ['a\nb'], ['ключ'], [''], [7], [{}], [null]])(
    'shows no msgCode or requestId that is unfit for a log: %p',
    (value) => {
      const shown = failure(anAnswer({ msgCode: value, requestId: value, msgType: 'ERROR' }));
      expect(shown).toMatchObject({ kind: 'transient', msgCode: undefined, requestId: undefined });
    },
  );

  it('takes the request id of the body when that of the header is unfit for a log', () => {
    const headers = { 'x-request_id': 'a b' };
    expect(failure(anAnswer({ requestId: 'req-2' }, { httpStatus: 500, headers })).requestId).toBe('req-2');
  });

  it('reads nesting of any depth without harm', () => {
    expect(failure(anAnswer(text('['.repeat(200_000)))).kind).toBe('invalid_response');
    expect(failure(anAnswer(text(`${'['.repeat(100_000)}${']'.repeat(100_000)}`))).kind).toBe('invalid_response');
  });
});

describe('any answer', () => {
  const status = fc.oneof(
    fc.constantFrom(200, 204, 302, 400, 401, 403, 429, 500, 503),
    fc.integer({ min: 100, max: 999 }),
  );
  const header = fc.option(fc.oneof(fc.string(), fc.array(fc.string())), { nil: undefined });
  const headers: fc.Arbitrary<AnswerHeaders> = fc.record({
    date: header,
    'retry-after': header,
    'x-request_id': header,
  });
  const fields = fc.record(
    { jwe: fc.jsonValue(), msgCode: fc.jsonValue(), msgType: fc.jsonValue(), requestId: fc.jsonValue() },
    { requiredKeys: [] },
  );
  const body = fc.oneof(fc.uint8Array(), fc.json().map(text), fields);

  it('is a sealed session or a classified failure, and nothing else', () => {
    fc.assert(
      fc.property(body, status, headers, (content, httpStatus, sent) => {
        const result = outcome(anAnswer(content, { httpStatus, headers: sent }));
        const isSession = !(result instanceof GatewayFailure);
        if (isSession) expect(httpStatus >= 200 && httpStatus < 300).toBe(true);
        else expect(result.httpStatus).toBe(httpStatus);
      }),
      { numRuns: 1_000 },
    );
  });

  it('leaks nothing but its code and request id into the failure', () => {
    const canaries = fc.dictionary(
      fc.constantFrom('jwe', 'msgText', 'msgAttrs', 'errorCauses', 'serviceId', 'authToken', 'x'),
      fc.constantFrom(CANARY, [CANARY], { [CANARY]: CANARY }),
      { minKeys: 1 },
    );
    const broken = canaries.map((content) => text(JSON.stringify(content).slice(0, -1)));
    fc.assert(
      fc.property(fc.oneof(canaries, broken), fc.integer({ min: 300, max: 599 }), (content, httpStatus) => {
        const shown = failure(anAnswer(content, { httpStatus, headers: { 'retry-after': CANARY, location: CANARY } }));
        expect(inspect(shown, { depth: null, showHidden: true })).not.toContain(CANARY);
      }),
    );
  });
});

describe('the answer of a helper request', () => {
  it('is text as it came', () => {
    expect(readText(anAnswer(text('{"authToken": "x"}\n')))).toBe('{"authToken": "x"}\n');
    expect(readText(anAnswer(text('')))).toBe('');
  });

  it.each([
    [500, text('boom'), 'transient'],
    [302, text(''), 'invalid_response'],
    [200, { msgType: 'ERROR', msgCode: 'b_encryptor_failed_decrypt_message' }, 'refused'],
    [200, Uint8Array.of(0xff), 'invalid_response'],
  ])('is a failure when it is %d %p', (httpStatus, content, kind) => {
    expect(() => readText(anAnswer(content, { httpStatus }))).toThrow(expect.objectContaining({ kind }));
  });
});

const NOW = instantFromEpochMs(Date.UTC(2026, 0, 1));

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    ['9999999999', 3_600_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['Fri, 02 Jan 2026 00:00:00 GMT', 3_600_000],
  ])('%s means %d ms', (text, expected) => {
    expect(parseRetryAfterMs(text, NOW)).toBe(expected);
  });

  it.each([[''], ['-1'], ['1.5'], ['1e3'], ['soon'], ['99999999999'], ['2026-01-01T00:00:30Z']])(
    'is ignored when it says %p',
    (text) => {
      expect(parseRetryAfterMs(text, NOW)).toBeUndefined();
    },
  );

  it('never asks for less than nothing or more than an hour, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.nat().map(String),
          fc.date().map((date) => date.toUTCString()),
        ),
        (text) => {
          const delayMs = parseRetryAfterMs(text, NOW) ?? 0;
          expect(delayMs).toBeGreaterThanOrEqual(0);
          expect(delayMs).toBeLessThanOrEqual(3_600_000);
        },
      ),
    );
  });
});
