import { PIN_MISMATCH } from './tls-trust.js';

/** What ended an exchange without an answer. */
export interface ExchangeEnd {
  readonly kind: 'untrusted' | 'timeout' | 'unsendable' | 'closed' | 'malformed' | 'broken_off';
  /** The code of the error: for logs, and without any data. */
  readonly mark: string;
  /** False if there was no connection, so nothing was sent to the other end. */
  readonly wasReached: boolean;
}

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

/** There was no connection, so nothing was sent to the other end. */
const UNREACHED_CODES: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_BROKER_BAD_PORT',
]);

/** Our own code: fetch sends nothing to a port on the Fetch standard's list, and says so only in its message. */
const BAD_PORT = 'ERR_BROKER_BAD_PORT';

/** Our own doing: the connections were closed during the call. */
const CLOSED_MARKS: ReadonlySet<string> = new Set(['ABORT_ERR', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

const rules: readonly (readonly [(mark: string) => boolean, ExchangeEnd['kind']])[] = [
  [(mark) => TRUST_CODES.has(mark), 'untrusted'],
  [(mark) => TIMEOUT_CODES.has(mark), 'timeout'],
  [(mark) => mark === 'UND_ERR_INVALID_ARG' || mark === BAD_PORT, 'unsendable'],
  [(mark) => CLOSED_MARKS.has(mark), 'closed'],
  [(mark) => mark === 'UND_ERR_HEADERS_OVERFLOW' || mark === 'HTTPParserError' || mark.startsWith('HPE_'), 'malformed'],
];

/** The error itself is not kept: undici's errors carry addresses and pieces of the answer. */
export function exchangeEndOf(error: unknown): ExchangeEnd {
  const mark = markOf(error);
  const kind = rules.find(([applies]) => applies(mark))?.[1] ?? 'broken_off';
  return { kind, mark, wasReached: !UNREACHED_CODES.has(mark) };
}

/** OpenSSL's number for input that is not TLS; the HTTPS client of Node.js has it only in the message. */
const WRONG_VERSION = /:error:0A00010B:/;

/**
 * The code of an error, otherwise its name: some errors of undici's parser have no code. If several addresses all
 * failed, they come as one AggregateError, which has the code of the first.
 */
function markOf(error: unknown): string {
  const { code, name, message }: { code?: unknown; name?: unknown; message?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  if (code === 'EPROTO' && WRONG_VERSION.test(String(message))) return 'ERR_SSL_WRONG_VERSION_NUMBER';
  if (code === undefined && message === 'bad port') return BAD_PORT;
  return [code, name].find(isPlainWord) ?? 'no error code';
}

const isPlainWord = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z]\w{0,63}$/.test(value);
