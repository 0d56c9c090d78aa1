import { inspect } from 'node:util';
import { instantFromEpochMs } from '#libs/clock';
import { GatewayFailure } from '#libs/session';
import { readAnswer, readText, type SealedSession } from './answer-reader.js';
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
  it.each([
    [200, '{}', 'invalid_response'],
    [200, '{"jwe":""}', 'invalid_response'],
    [200, '{"jwe":{"jwe":"x"}}', 'invalid_response'],
    [200, '["jwe"]', 'invalid_response'],
    [200, 'null', 'invalid_response'],
    [200, '{"msgType":"ERROR"}', 'transient'],
    [200, '{"msgType":"VALIDATION_ERROR","msgCode":"b_something"}', 'refused'],
    [302, '', 'invalid_response'],
    [304, '{"jwe":"x"}', 'invalid_response'],
    [401, '', 'transient'],
    [403, '', 'refused'],
    [429, '', 'transient'],
    [500, '{"jwe":"x"}', 'transient'],
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

it('shows nothing of an answer in its failure but code and request id', () => {
  const fields = { jwe: [CANARY], msgText: CANARY, msgAttrs: { [CANARY]: CANARY }, [CANARY]: CANARY };
  const headers = { 'retry-after': CANARY, location: CANARY };
  for (const content of [fields, text(JSON.stringify(fields).slice(0, -1))]) {
    const shown = failure(anAnswer(content, { httpStatus: 500, headers }));
    expect(inspect(shown, { depth: null, showHidden: true })).not.toContain(CANARY);
  }
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
});
