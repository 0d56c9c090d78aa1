import { types } from 'node:util';
import { BrokerError } from '#libs/errors';

/** `refuses`: the server was there and said no, or it is one that we do not trust. `silent`: no answer. */
export interface RedisVerdict {
  readonly kind: 'refuses' | 'silent';
  /** In words that can be logged: a reply's code (`NOPERM`, `OOM`, `READONLY`, ...) if there was a reply. */
  readonly reason: string;
}

/** The library's messages for a command without a connection, which do not say why. */
export const WITHOUT_CONNECTION: ReadonlySet<string> = new Set([
  'not connected',
  'the connection was closed',
  'the connection was lost',
  'no node of the cluster can be reached',
]);

/** The reason if something answers that does not speak the protocol. */
export const NOT_REDIS = 'what answers is not Redis';

/** What the library says when there was no reply. */
const libraryMessages: readonly (readonly [RegExp, string])[] = [
  [/^Command timed out$/, 'no answer in time'],
  [/^Connection is closed\.$/, 'the connection was closed'],
  [/^(Stream isn't writeable|Cluster isn't ready) and enableOfflineQueue/, 'not connected'],
  [/^(Failed to refresh slots cache|None of startup nodes is available)/, 'no node of the cluster can be reached'],
  [/^Reached the max retries per request/, 'the connection was lost'],
  [/^Socket timeout\./, 'the connection went silent'],
  [/^Unknown RESP type/, NOT_REDIS],
  [/^All sentinels are unreachable/, 'no sentinel names a primary'],
];

/** From a server that has fewer databases or, as a node of a cluster, only database 0. */
export const NO_DATABASE = 'no database of that number';

/** What is said of the first pattern that fits the text. */
function saidOf(table: readonly (readonly [RegExp, string, ...unknown[]])[], text: string): string | undefined {
  return table.find(([pattern]) => pattern.test(text))?.[1];
}

/** Replies whose first word says less than is known. */
const replyReasons: readonly (readonly [RegExp, string])[] = [
  [/^-?ERR max number of clients/, 'MAXCLIENTS'],
  [/^-?ERR The user executing the script can't/, 'NOPERM'],
  [/^-?ERR (DB index is out of range|invalid DB index|SELECT is not allowed in cluster mode)/, NO_DATABASE],
  [/^-?ERR (AUTH|Client sent AUTH|invalid password)/, 'WRONGPASS'],
];

/**
 * What went wrong. The client library attaches a command's arguments (sessions, passwords) to its errors, and a server
 * quotes them in its messages, so neither is ever passed on.
 */
export function judgeRedisError(error: unknown): RedisVerdict {
  if (!types.isNativeError(error)) return { kind: 'silent', reason: 'an unknown failure' };
  const reply = replyReason(error);
  if (reply !== undefined) return { kind: 'refuses', reason: reply };
  const ofNode = 'lastNodeError' in error ? judgeRedisError(error.lastNodeError) : undefined;
  if (ofNode?.kind === 'refuses') return ofNode;
  const reason = silenceReason(error);
  return { kind: isUntrusted(reason) || remedyOfRefusal(reason) !== undefined ? 'refuses' : 'silent', reason };
}

/** Whether the certificate of the server, or TLS as a whole, is wrong: it did answer, and a person has to fix it. */
export const isUntrusted = (reason: string): boolean =>
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|HOSTNAME_|INVALID_|PATH_LENGTH_)/.test(reason);

/** The first word of an error reply is its code: `READONLY`, `OOM`, `NOAUTH`, `WRONGPASS`, `NOPERM`, `MISCONF`, ... */
function replyReason({ name, message }: Error): string | undefined {
  if (name !== 'ReplyError') return undefined;
  return saidOf(replyReasons, message) ?? /^-?([A-Z][A-Z0-9]{2,30})\b/.exec(message)?.[1] ?? 'ERR';
}

/** In words of ours, or a code: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, … */
function silenceReason(error: Error): string {
  const known = saidOf(libraryMessages, error.message);
  if (known !== undefined) return known;
  const code: unknown = 'code' in error ? error.code : undefined;
  if (typeof code !== 'string' || !/^[A-Z][A-Z0-9_/]{2,60}$/.test(code)) return error.name;
  return saidOf(alerts, code) ?? code;
}

/** The error that every operation of the store throws if Redis fails it. It deliberately has no cause. */
export function storeFailure(operation: string, { kind, reason }: RedisVerdict): BrokerError {
  const code = kind === 'refuses' ? 'store_refused' : 'store_unavailable';
  return new BrokerError(code, { detail: `${operation}: ${reason}` });
}

// ---- TLS

/** OpenSSL's codes for alerts sent by the other side, what is said instead of them and what to do; the first that fits. */
const alerts: readonly (readonly [code: RegExp, reason: string, remedy: string])[] = [
  [
    /_ALERT_CERTIFICATE_REQUIRED$/,
    'Redis asks for a certificate of the broker',
    'give store.tls.certFile and store.tls.keyFile',
  ],
  [
    /_ALERT_(?:UNKNOWN_CA|\w*CERTIFICATE\w*|ACCESS_DENIED|DECRYPT_ERROR)$/,
    'Redis does not take the certificate of the broker',
    'see whether store.tls.certFile has expired, and compare it with the authority that Redis trusts (its tls-ca-cert-file)',
  ],
  [
    /^ERR_SSL_.*_ALERT_/,
    'Redis refuses the TLS handshake',
    // With TLS 1.2 the alert is the same for a missing certificate and for ciphers that the other side does not have.
    'without store.tls.certFile and store.tls.keyFile it most likely asks for a certificate of the broker; with them, compare versions and ciphers of TLS',
  ],
];

/** OpenSSL's codes for a certificate from an untrusted issuer. */
const OF_A_STRANGER = /^(?:SELF_SIGNED_|DEPTH_ZERO_SELF_SIGNED_|UNABLE_TO_|CERT_SIGNATURE_FAILURE$)/;
const TRUST = 'store.tls.caFile has to name the authority that issued it; see docs/redis.md';

/** How to fix a connection that one side refuses because of its certificate; undefined for every other reason. */
export function remedyOfRefusal(reason: string): string | undefined {
  const alert = alerts.find(([, said]) => said === reason);
  return alert?.[2] ?? (OF_A_STRANGER.test(reason) ? TRUST : undefined);
}
