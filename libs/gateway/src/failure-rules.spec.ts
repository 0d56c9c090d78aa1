import type { AnswerHeaders } from '#libs/outbound';
import { GatewayFailure, type GatewayFailureKind } from '#libs/session';
import { readAnswer, readText } from './answer-reader.js';
import type { GatewayAnswer } from './gateway-answer.js';
import { anAnswer } from './gateway-fixtures.js';

const STATUSES = [200, 400, 401, 403, 404, 500, 503] as const;
const MARKER = 'marker-b41d';
const PAGE = `<!DOCTYPE html><html><head><title>${MARKER}</title></head><body>Support ID: ${MARKER}</body></html>`;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function failureOf(answer: GatewayAnswer, read: (answer: GatewayAnswer) => unknown = readAnswer): GatewayFailure {
  try {
    read(answer);
  } catch (error) {
    if (error instanceof GatewayFailure) return error;
    throw error;
  }
  throw new Error('the answer was taken for a good one');
}

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
    for (const httpStatus of STATUSES) {
      const body = { msgCode, msgType: 'ERROR', msgText: MARKER };
      expect(failureOf(anAnswer(body, { httpStatus }))).toMatchObject({
        kind,
        msgCode,
        httpStatus,
        instead: undefined,
      });
    }
  });

  it('that is unknown is judged by its status', () => {
    const kinds = STATUSES.map((httpStatus) => failureOf(anAnswer({ msgCode: 'b_new' }, { httpStatus })).kind);
    const expected = ['transient', 'refused', 'transient', 'refused', 'transient', 'transient', 'transient'];
    expect(kinds).toEqual(expected);
  });
});

describe('a code that no description names', () => {
  it('is marked as such where nothing but it was there to judge by', () => {
    expect(failureOf(anAnswer({ msgCode: 'b_new' })).trace).toMatchObject({ unknownCode: true });
    expect(failureOf(anAnswer({ msgCode: 'b_new' }, { httpStatus: 503 })).trace).not.toHaveProperty('unknownCode');
    expect(failureOf(anAnswer({ msgCode: 'b_overload_error' })).trace).not.toHaveProperty('unknownCode');
    expect(failureOf(anAnswer({ msgType: 'ERROR' })).trace).not.toHaveProperty('unknownCode');
  });
});

describe('a page of HTML', () => {
  const underStatus = {
    200: 'transient',
    302: 'invalid_response',
    400: 'refused',
    503: 'transient',
  } as const;
  const isPage = { instead: 'html_page', shownCode: 'html_page', msgCode: undefined };

  it.each(Object.entries(underStatus))('under %s is not a session, and counts as %s', (status, kind) => {
    const httpStatus = Number(status);
    const found = failureOf(anAnswer(bytes(PAGE), { httpStatus, headers: { 'content-type': 'text/html' } }));
    expect(found).toMatchObject({ kind, httpStatus, ...(kind === 'invalid_response' ? {} : isPage) });
    expect(JSON.stringify({ ...found, text: found.message, detail: found.detail, stack: found.stack })).not.toContain(
      MARKER,
    );
  });

  it.each<[string, string, AnswerHeaders]>([
    ['by its media type', `Request rejected: ${MARKER}`, { 'content-type': 'TEXT/HTML; charset=utf-8' }],
    ['by its first sign', `\uFEFF \r\n<html>${MARKER}`, { 'content-type': 'application/json' }],
    ['as XHTML', `Request rejected: ${MARKER}`, { 'content-type': 'application/xhtml+xml' }],
  ])('is known %s', (_how, page, headers) => {
    expect(failureOf(anAnswer(bytes(page), { headers }))).toMatchObject({ kind: 'transient', ...isPage });
  });

  it.each(['too_large', 'encoded'] as const)('is known by its media type when it was not read: %s', (reason) => {
    const answer = anAnswer({}, { headers: { 'content-type': 'text/html' } });
    expect(failureOf({ ...answer, body: { kind: 'refused', reason } })).toMatchObject({ kind: 'transient', ...isPage });
  });

  it('is not the text of a helper request either', () => {
    expect(failureOf(anAnswer(bytes(PAGE)), readText)).toMatchObject({ kind: 'transient', ...isPage });
  });

  it('is told apart from a session or an error that only bears its media type', () => {
    const headers = { 'content-type': 'text/html' };
    expect(readAnswer(anAnswer({ jwe: 'a.b.c.d.e' }, { headers })).jwe).toBe('a.b.c.d.e');
    const error = anAnswer({ msgCode: 'b_merchant_not_found' }, { headers });
    expect(failureOf(error)).toMatchObject({ kind: 'refused', instead: undefined });
  });
});

describe('an empty answer', () => {
  it.each(['', ' \r\n', '\uFEFF'])('%j is transient, with a reason of its own', (body) => {
    expect(failureOf(anAnswer(bytes(body)))).toMatchObject({ kind: 'transient', instead: 'empty_answer' });
  });

  it('under a status that says something is what that says', () => {
    expect(failureOf(anAnswer(bytes(''), { httpStatus: 403 }))).toMatchObject({ kind: 'refused', instead: undefined });
  });

  it('is told apart from a long one that begins with blanks', () => {
    expect(failureOf(anAnswer(bytes(`${' '.repeat(1_000)}x`))).kind).toBe('invalid_response');
  });
});
