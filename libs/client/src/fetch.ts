import { orAborted } from './deadline.js';
import { ProtocolError } from './errors.js';
import { isJsonObject } from './json.js';

/**
 * What this package needs from `fetch`, and no more, so that both the platform's and undici's fit, whatever the version
 * of their types.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

/** What this package passes to `fetch`. */
export interface FetchInit {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** A redirect would send the credential elsewhere, so it is reported and never followed. */
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

/** What this package reads from an answer: a `Response` of the platform or of undici fits. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** A `ReadableStream` of octets. */
  readonly body: { getReader(): BodyReader; cancel(): Promise<void> } | null;
}

/** The reader of a body. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** The broker's largest answer is an opened payload of 64 KiB in JSON, at worst six characters per octet. */
const MAX_ANSWER_BYTES = 524_288;

/** @throws ProtocolError when it is longer than any answer of the broker */
export async function readText(body: FetchAnswer['body'], signal: AbortSignal): Promise<string> {
  const { text, isWhole } = await readStart(body, signal, MAX_ANSWER_BYTES);
  if (!isWhole) throw new ProtocolError('answer_too_large', 'The answer of the broker is too large');
  return text;
}

/** Reads a UTF-8 body until there is more of it than `maxOctets`. */
export async function readStart(
  body: FetchAnswer['body'],
  signal: AbortSignal,
  maxOctets: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  if (body === null) return { text: '', isWhole: true };
  const reader = body.getReader();
  const decoder = new TextDecoder('utf-8');
  let text = '';
  try {
    for (let octets = 0; octets <= maxOctets;) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return { text: text + decoder.decode(), isWhole: true };
      octets += value?.byteLength ?? 0;
      text += decoder.decode(value, { stream: true });
    }
    return { text, isWhole: false };
  } finally {
    discard(reader);
  }
}

/** Cancels a body that nobody will read, so that its connection is freed; of a copy, only when the original ends. */
export function discard(body: { cancel(): Promise<void> } | null): void {
  // A body that has failed by itself cannot be cancelled, and needs no cancelling.
  body?.cancel().catch(() => undefined);
}

/** Codes as the system, OpenSSL and undici write them. A text of any other form could be anything. */
const SYSTEM_CODE = /^(?:[A-Z][A-Z0-9_]{1,39}|ERR_SSL_[A-Z0-9_/]{1,60})$/;
/**
 * Codes that occur only before there is a connection over which anything could be sent. With TLS that means before the
 * other side's certificate has been accepted.
 */
const NO_CONNECTION: readonly unknown[] = [
  ...['ERR_INVALID_URL', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_REVOKED', 'CERT_UNTRUSTED', 'CERT_REJECTED', 'CERT_SIGNATURE_FAILURE'],
  ...['CERT_CHAIN_TOO_LONG', 'PATH_LENGTH_EXCEEDED', 'INVALID_CA', 'INVALID_PURPOSE', 'HOSTNAME_MISMATCH'],
  // From a handshake. On a connection whose handshake is done, fetch says UND_ERR_SOCKET instead.
  ...['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_UNSUPPORTED_PROTOCOL', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
  ...['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'],
];
/** `fetch failed` has the failure of the connection as its cause, and that may have another. */
const MAX_CAUSES = 5;

/** The system's code for what fetch or a file threw, such as `ECONNREFUSED`, from the error or what caused it. */
export function systemCodeIn(failure: unknown, depth = 0): string | undefined {
  if (!isJsonObject(failure) || depth > MAX_CAUSES) return undefined;
  const { code, cause } = failure;
  return typeof code === 'string' && SYSTEM_CODE.test(code) ? code : systemCodeIn(cause, depth + 1);
}

/** Whether what fetch threw means that there was no connection over which anything could be sent. */
export function hadNoConnection(failure: unknown, depth = 0): boolean {
  if (!isJsonObject(failure) || depth > MAX_CAUSES) return false;
  const { code, syscall, errors, cause } = failure;
  // One error for each address of the name.
  if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => hadNoConnection(each, depth + 1));
  if (syscall === 'connect' || NO_CONNECTION.includes(code)) return true;
  return syscall === undefined && hadNoConnection(cause, depth + 1);
}
