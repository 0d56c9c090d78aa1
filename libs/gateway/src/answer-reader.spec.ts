import { inspect } from 'node:util';
import { instantFromEpochMs } from '#libs/clock';
import { GatewayFailure, type GatewayFailureKind } from '#libs/session';
import { readAnswer, readText } from './answer-reader.js';
import type { GatewayAnswer } from './gateway-answer.js';
import { anAnswer } from './gateway-fixtures.js';
import { parseRetryAfterMs } from './retry-after.js';

const CANARY = 'canary-7f3a';
const PAGE = `<!DOCTYPE html><html><head><title>${CANARY}</title></head><body>Support ID: ${CANARY}</body></html>`;

const failure = (answer: GatewayAnswer, read: (answer: GatewayAnswer) => unknown = readAnswer): GatewayFailure => {
  try {
    read(answer);
  } catch (error) {
    if (error instanceof GatewayFailure) return error;
    throw error;
  }
  throw new Error('the answer was taken for a good one');
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
    [200, ' \r\n', 'transient'],
    [200, '\uFEFF', 'transient'],
    [200, `${' '.repeat(1_000)}x`, 'invalid_response'],
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

  it('says that an answer is empty, unless its status says enough', () => {
    expect(failure(anAnswer(text('')))).toMatchObject({ kind: 'transient', instead: 'empty_answer' });
    expect(failure(anAnswer(text(''), { httpStatus: 403 }))).toMatchObject({ kind: 'refused', instead: undefined });
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

describe('a code of the gateway', () => {
  const classes: Readonly<Record<string, GatewayFailureKind>> = {
    b_server_is_overloaded: 'transient',
    b_overload_error: 'transient',
    b_unknown_error: 'transient',
    b_service_unavailable: 'transient',
    b_auth_token_expired: 'revoked',
    b_merchant_not_found: 'refused',
    b_terminal_not_found: 'refused',
    b_virtual_device_not_found: 'refused',
    b_invalid_request: 'refused',
    b_encryptor_failed_decrypt_message: 'refused',
    b_refresh_token_absent: 'refused',
    b_request_is_not_correct: 'refused',
    b_error_parse_json: 'refused',
    b_user_merchant_request_mismatch: 'refused',
    b_session_doesnt_exist: 'transient',
    b_session_doesnt_exists: 'transient',
    b_expired_token: 'transient',
    b_used_token: 'transient',
    b_previous_auth_token_expired: 'transient',
    b_unknown_device: 'transient',
  };

  it.each(Object.entries(classes))('%s is %s under every status', (msgCode, kind) => {
    for (const httpStatus of [200, 400, 401, 403, 404, 500, 503]) {
      const body = { msgCode, msgType: 'ERROR', msgText: CANARY };
      expect(failure(anAnswer(body, { httpStatus }))).toMatchObject({
        kind,
        msgCode,
        httpStatus,
        instead: undefined,
      });
    }
  });

  it.each([
    [{ msgCode: 'b_new' }, 200, 'transient', true],
    [{ msgCode: 'b_new' }, 400, 'refused', false],
    [{ msgCode: 'b_new' }, 403, 'refused', false],
    [{ msgCode: 'b_new' }, 404, 'transient', true],
    [{ msgCode: 'b_new' }, 503, 'transient', false],
    [{ msgCode: 'b_overload_error' }, 200, 'transient', false],
    [{ msgType: 'ERROR' }, 200, 'transient', false],
  ])('%j under %d is %s, and marked where nothing but an unknown code was there to judge by: %s', (...row) => {
    const [body, httpStatus, kind, isMarked] = row;
    const failed = failure(anAnswer(body, { httpStatus }));
    expect([failed.kind, 'unknownCode' in (failed.trace ?? {})]).toEqual([kind, isMarked]);
  });
});

describe('a page of HTML', () => {
  const isPage = { instead: 'html_page', shownCode: 'html_page', msgCode: undefined };
  const HTML = { 'content-type': 'text/html' };
  const page = (httpStatus: number): GatewayAnswer => anAnswer(text(PAGE), { httpStatus, headers: HTML });
  const as = (body: string, type: string): GatewayAnswer =>
    anAnswer(text(body + CANARY), { headers: { 'content-type': type } });
  const unread = (reason: 'too_large' | 'encoded'): GatewayAnswer => ({
    ...page(200),
    body: { kind: 'refused', reason },
  });

  it.each<[string, GatewayAnswer, object]>([
    ['under 200', page(200), { kind: 'transient', ...isPage }],
    ['under 302', page(302), { kind: 'invalid_response' }],
    ['under 400', page(400), { kind: 'refused', httpStatus: 400, ...isPage }],
    ['under 503', page(503), { kind: 'transient', httpStatus: 503, ...isPage }],
    ['by its media type', as('Rejected: ', 'TEXT/HTML; charset=utf-8'), { kind: 'transient', ...isPage }],
    ['by its first sign', as('\uFEFF \r\n<html>', 'application/json'), { kind: 'transient', ...isPage }],
    ['as XHTML', as('Rejected: ', 'application/xhtml+xml'), { kind: 'transient', ...isPage }],
    ['when it is too long to be read', unread('too_large'), { kind: 'transient', ...isPage }],
    ['when it is compressed', unread('encoded'), { kind: 'transient', ...isPage }],
  ])('is known %s, and nothing of it is told', (_how, answer, expected) => {
    const found = failure(answer);
    expect(found).toMatchObject(expected);
    expect(JSON.stringify({ ...found, text: found.message, detail: found.detail, stack: found.stack })).not.toContain(
      CANARY,
    );
  });

  it('is not the text of a helper request either', () => {
    expect(failure(anAnswer(text(PAGE)), readText)).toMatchObject({ kind: 'transient', ...isPage });
  });

  it('is told apart from a session or an error that only bears its media type', () => {
    const headers = { 'content-type': 'text/html' };
    expect(readAnswer(anAnswer({ jwe: 'a.b.c.d.e' }, { headers })).jwe).toBe('a.b.c.d.e');
    const error = anAnswer({ msgCode: 'b_merchant_not_found' }, { headers });
    expect(failure(error)).toMatchObject({ kind: 'refused', instead: undefined });
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
});
