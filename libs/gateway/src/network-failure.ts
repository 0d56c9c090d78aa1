import { GatewayFailure, type GatewayFailureKind } from '#libs/session';
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

type CodeRule = readonly [applies: (code: string) => boolean, kind: GatewayFailureKind, detail: string];

const rules: readonly CodeRule[] = [
  [
    (code) => TRUST_CODES.has(code),
    'refused',
    "the gateway's certificate is not trusted; compare tls.caFile, tls.pins and baseUrl with what the bank publishes",
  ],
  [(code) => TIMEOUT_CODES.has(code), 'timeout', 'the gateway did not answer in time'],
  [
    (code) => code === 'UND_ERR_INVALID_ARG',
    'refused',
    'the request cannot be sent as configured; check baseUrl, proxy and requestData',
  ],
  [
    (code) => code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED',
    'aborted',
    'the connections to the gateway are closed',
  ],
  [
    (code) => code === 'UND_ERR_HEADERS_OVERFLOW' || code.startsWith('HPE_'),
    'invalid_response',
    'the gateway does not speak HTTP within its bounds',
  ],
];

/**
 * Classifies what ended an exchange before there was an answer. A certificate that is not trusted is `refused`: trying
 * again quickly mends nothing, and a person has to look. The error itself is not kept, for undici's errors carry
 * addresses and pieces of the answer; its code is.
 */
export function networkFailure(error: unknown): GatewayFailure {
  const code = codeOf(error);
  const [, kind, detail] = rules.find(([applies]) => applies(code)) ?? [
    undefined,
    'transient' as const,
    'the exchange with the gateway broke off',
  ];
  return new GatewayFailure({ kind, detail: `${detail} (${code})` });
}

/** Several addresses that all failed come as one AggregateError, which has the code of the first. */
function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : 'no error code';
}
