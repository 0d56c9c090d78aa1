import { causeOf, seemsMisaddressed } from './failure-cause.js';
import { checkedTrace, type FailureTrace } from './failure-trace.js';
import { sharedFailureKinds } from './gateway-failure.js';
import type { RecordedFailure } from './ports/session-store.js';

type Failed = Pick<RecordedFailure, 'kind' | 'msgCode' | 'trace'>;

const thumbprint = 'giDq73_2bc-X1mJeOZdZGtHIgq17_7yBU6003q9kBQo';
const at = (mark: string, rest: FailureTrace = {}): Pick<Failed, 'trace'> => ({
  trace: { mark, peer: 'bank.example:443', ...rest },
});

const table: Record<string, [Failed, runbook: string]> = {
  'nothing listens there (ECONNREFUSED to bank.example:443)': [
    { kind: 'transient', ...at('ECONNREFUSED') },
    'renewals-failing',
  ],
  'nothing listens there (ECONNREFUSED to the proxy out.example:3128)': [
    { kind: 'transient', ...at('ECONNREFUSED', { peer: 'out.example:3128', viaProxy: true }) },
    'renewals-failing',
  ],
  'its name has no address (ENOTFOUND for bank.example:443)': [
    { kind: 'transient', ...at('ENOTFOUND') },
    'renewals-failing',
  ],
  'the name server does not answer (EAI_AGAIN for bank.example:443)': [
    { kind: 'transient', ...at('EAI_AGAIN') },
    'renewals-failing',
  ],
  'no route leads there (EHOSTUNREACH to bank.example:443)': [
    { kind: 'transient', ...at('EHOSTUNREACH') },
    'renewals-failing',
  ],
  'nothing answers there (no connection in time to bank.example:443)': [
    { kind: 'timeout', ...at('UND_ERR_CONNECT_TIMEOUT') },
    'renewals-failing',
  ],
  'no TLS is spoken there, although the address begins with https (ERR_SSL_WRONG_VERSION_NUMBER from bank.example:443)':
    [{ kind: 'transient', ...at('ERR_SSL_WRONG_VERSION_NUMBER') }, 'renewals-failing'],
  'bank.example:443 broke the call off (ECONNRESET)': [{ kind: 'transient', ...at('ECONNRESET') }, 'renewals-failing'],
  'no answer in time from bank.example:443 (UND_ERR_HEADERS_TIMEOUT)': [
    { kind: 'timeout', ...at('UND_ERR_HEADERS_TIMEOUT') },
    'renewals-failing',
  ],
  'no answer in time from bank.example:443': [
    { kind: 'timeout', trace: { peer: 'bank.example:443' } },
    'renewals-failing',
  ],
  'the certificate of bank.example:443 has expired (CERT_HAS_EXPIRED)': [
    { kind: 'refused', ...at('CERT_HAS_EXPIRED') },
    'access-refused',
  ],
  'the certificate of bank.example:443 is for another name (ERR_TLS_CERT_ALTNAME_INVALID)': [
    { kind: 'refused', ...at('ERR_TLS_CERT_ALTNAME_INVALID') },
    'access-refused',
  ],
  'the certificate of bank.example:443 has a key that is not pinned (ERR_BROKER_PIN_MISMATCH)': [
    { kind: 'refused', ...at('ERR_BROKER_PIN_MISMATCH') },
    'access-refused',
  ],
  'the certificate of bank.example:443 is not trusted (SELF_SIGNED_CERT_IN_CHAIN)': [
    { kind: 'refused', ...at('SELF_SIGNED_CERT_IN_CHAIN') },
    'access-refused',
  ],
  'the request cannot be sent as configured (UND_ERR_INVALID_ARG)': [
    { kind: 'refused', ...at('UND_ERR_INVALID_ARG') },
    'access-refused',
  ],
  'the answer is sealed to another key than ours, or damaged': [
    { kind: 'invalid_response', trace: { thumbprint, httpStatus: 200 } },
    'access-refused',
  ],
  'the bank refuses: b_merchant_not_found': [
    { kind: 'refused', msgCode: 'b_merchant_not_found', trace: { httpStatus: 400 } },
    'access-refused',
  ],
  'the bank has revoked the access: b_auth_token_expired': [
    { kind: 'revoked', msgCode: 'b_auth_token_expired' },
    'access-refused',
  ],
  'the bank reports a fault of its own: b_server_is_overloaded': [
    { kind: 'transient', msgCode: 'b_server_is_overloaded' },
    'renewals-failing',
  ],
  'the bank refuses (HTTP 403)': [{ kind: 'refused', trace: { httpStatus: 403 } }, 'access-refused'],
  'a firewall turns the call away: a page of HTML in place of an answer (HTTP 403)': [
    { kind: 'refused', msgCode: 'html_page', trace: { httpStatus: 403 } },
    'access-refused',
  ],
  'a firewall or proxy answers in place of the bank: a page of HTML (HTTP 503)': [
    { kind: 'transient', msgCode: 'html_page', trace: { httpStatus: 503 } },
    'renewals-failing',
  ],
  'no create call is taken at the address asked: gateway.baseUrl is probably wrong, or the service is away for now (HTTP 404, b_service_unavailable)':
    [{ kind: 'transient', msgCode: 'b_service_unavailable', trace: { httpStatus: 404 } }, 'renewals-failing'],
  'no create call is taken at the address asked: gateway.baseUrl is probably wrong (HTTP 405)': [
    { kind: 'transient', trace: { httpStatus: 405 } },
    'renewals-failing',
  ],
  'no create call is taken at the address asked: gateway.baseUrl is probably wrong (HTTP 404, a page of HTML)': [
    { kind: 'transient', msgCode: 'html_page', trace: { httpStatus: 404 } },
    'renewals-failing',
  ],
  'the address asked leads elsewhere, where no call follows: gateway.baseUrl is probably wrong (HTTP 301)': [
    { kind: 'invalid_response', trace: { httpStatus: 301 } },
    'renewals-failing',
  ],
  'the bank reports a fault of its own: b_service_unavailable': [
    { kind: 'transient', msgCode: 'b_service_unavailable', trace: { httpStatus: 503 } },
    'renewals-failing',
  ],
  'the bank answers with a code that is not known here: b_something_new': [
    { kind: 'transient', msgCode: 'b_something_new', trace: { httpStatus: 200, unknownCode: true } },
    'renewals-failing',
  ],
  'the session was past its expiry on arrival: compare the clocks of broker and gateway': [
    { kind: 'invalid_response', trace: { mark: 'ERR_BROKER_PAST_EXPIRY' } },
    'clock-skew',
  ],
  "the bank's answer is empty": [{ kind: 'transient', msgCode: 'empty_answer' }, 'renewals-failing'],
  "the bank's answer is not a session (HTTP 200)": [
    { kind: 'invalid_response', trace: { httpStatus: 200 } },
    'renewals-failing',
  ],
};

describe('the cause of a failed call', () => {
  it.each(Object.entries(table))('is told as: %s', (text, [failure, runbook]) => {
    expect(causeOf(failure)).toEqual({ text, runbook });
    expect(seemsMisaddressed(failure)).toBe(text.includes('baseUrl is probably wrong'));
  });

  it.each([
    { kind: 'transient', msgCode: 'b_server_is_overloaded', trace: { httpStatus: 404 } },
    { kind: 'refused', msgCode: 'b_merchant_not_found', trace: { httpStatus: 404 } },
    { kind: 'refused', trace: { httpStatus: 403 } },
  ] as const)('is not the address where the operation itself has answered: %j', (failure) => {
    expect(seemsMisaddressed(failure)).toBe(false);
    expect(causeOf(failure).text).not.toContain('baseUrl');
  });

  it.each(sharedFailureKinds)('is told by its kind when nothing else is known: %s', (kind) => {
    expect(causeOf({ kind }).text).toMatch(/^[a-z][\w ,;:?']+$/);
  });
});

describe('what is known of a failure', () => {
  const whole = {
    mark: 'ECONNREFUSED',
    peer: '[::1]:9',
    viaProxy: true,
    httpStatus: 403,
    requestId: 'f1c7e2a0-52f1',
    thumbprint,
    unknownCode: true,
  } as const;

  it('is kept when each member is as it must be', () => {
    expect(checkedTrace({ ...whole, token: 'canary' })).toEqual(whole);
  });

  it.each([
    { mark: 'two words' },
    { mark: 'x'.repeat(65) },
    { peer: 'user:secret@bank.example' },
    { peer: '<script>' },
    { peer: 'x'.repeat(261) },
    { viaProxy: 'yes' },
    { unknownCode: 'b_something_new' },
    { httpStatus: 99 },
    { httpStatus: '403' },
    { thumbprint: `${thumbprint}x` },
    { requestId: 'two words' },
    { requestId: 'x'.repeat(65) },
    undefined,
    null,
    7,
  ])('loses what nobody of ours can have written: %j', (value) => {
    expect(checkedTrace(value)).toBeUndefined();
  });
});
