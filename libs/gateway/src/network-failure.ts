import { GatewayFailure } from '#libs/session';
import type { FailureVerdict } from './failure-rules.js';
import { PIN_MISMATCH } from './tls-trust.js';

/** Why the certificate was not accepted: OpenSSL's verification codes as Node names them, and our pins. */
const TRUST_CODES: ReadonlySet<string> = new Set([
  PIN_MISMATCH,
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_FORMAT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UND_ERR_PRX_TLS',
]);

const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
]);

/** There was no connection, so that nothing was asked of the gateway. */
const UNREACHED_CODES: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Our own doing: `GatewayConnections` was closed during the call. */
const CLOSED_MARKS: ReadonlySet<string> = new Set(['ABORT_ERR', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

interface MarkRule {
  readonly applies: (mark: string) => boolean;
  readonly verdict: FailureVerdict;
}

const rules: readonly MarkRule[] = [
  {
    applies: (mark) => TRUST_CODES.has(mark),
    verdict: {
      kind: 'refused',
      detail: "the gateway's certificate is not trusted; compare tls.caFile, tls.pins and baseUrl with the bank's",
    },
  },
  {
    applies: (mark) => TIMEOUT_CODES.has(mark),
    verdict: { kind: 'timeout', detail: 'the gateway did not answer in time' },
  },
  {
    applies: (mark) => mark === 'UND_ERR_INVALID_ARG',
    verdict: {
      kind: 'refused',
      detail: 'the request cannot be sent as configured; check baseUrl, proxy and requestData',
    },
  },
  {
    applies: (mark) => CLOSED_MARKS.has(mark),
    verdict: { kind: 'aborted', detail: 'the connections to the gateway are closed' },
  },
  {
    applies: (mark) => mark === 'UND_ERR_HEADERS_OVERFLOW' || mark === 'HTTPParserError' || mark.startsWith('HPE_'),
    verdict: { kind: 'invalid_response', detail: 'the gateway does not speak HTTP within its bounds' },
  },
];

const BROKEN_OFF: FailureVerdict = { kind: 'transient', detail: 'the exchange with the gateway broke off' };

/**
 * Classifies what ended an exchange before there was an answer. A certificate that is not trusted is `refused`: trying
 * again soon mends nothing, and a person has to look at it. The error itself is not kept, for undici's errors carry
 * addresses and pieces of the answer; its code is.
 */
export function networkFailure(error: unknown): GatewayFailure {
  const mark = markOf(error);
  const { kind, detail } = rules.find(({ applies }) => applies(mark))?.verdict ?? BROKEN_OFF;
  const reach = UNREACHED_CODES.has(mark) ? { wasReached: false } : {};
  return new GatewayFailure({ kind, detail: `${detail} (${mark})`, ...reach });
}

/**
 * The code of an error, else its name: some errors of undici's parser have no code. Several addresses that all failed
 * come as one AggregateError, which has the code of the first.
 */
function markOf(error: unknown): string {
  const { code, name }: { code?: unknown; name?: unknown } = typeof error === 'object' && error !== null ? error : {};
  return [code, name].find(isPlainWord) ?? 'no error code';
}

const isPlainWord = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z]\w{0,63}$/.test(value);
