import { types } from 'node:util';
import { BrokerError } from '#libs/errors';

const libraryMessages: Readonly<Record<string, string>> = {
  'Command timed out': 'no answer in time',
  'Connection is closed.': 'the connection was closed',
  "Stream isn't writeable and enableOfflineQueue options is false": 'not connected',
  "Cluster isn't ready and enableOfflineQueue options is false": 'not connected',
  'Failed to refresh slots cache.': 'no node of the cluster can be reached',
  'None of startup nodes is available': 'no node of the cluster can be reached',
};

/**
 * What went wrong, in words that can be logged: the client library hangs a command's arguments (sessions, passwords)
 * on its errors, and a server quotes them in its messages, so neither is ever passed on.
 */
export function describeRedisError(error: unknown): string {
  if (!types.isNativeError(error)) return 'an unknown failure';
  const known = libraryMessages[error.message];
  if (known !== undefined) return known;
  if (error.name === 'MaxRetriesPerRequestError') return 'the connection was lost';
  if (error.message.startsWith('Socket timeout.')) return 'the connection went silent';
  if (error.message.startsWith('All sentinels are unreachable')) return 'no sentinel can be reached';
  return systemCode(error) ?? replyCode(error) ?? error.name;
}

/** `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`, ... */
function systemCode(error: Error): string | undefined {
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : undefined;
}

/** The first word of an error reply is its code: `READONLY`, `OOM`, `NOAUTH`, `WRONGPASS`, `NOPERM`, `MISCONF`, ... */
function replyCode(error: Error): string | undefined {
  return /^-?([A-Z][A-Z0-9]{2,30})\b/.exec(error.message)?.[1];
}

/** The error every operation of the store throws when Redis does not do it. It has no cause on purpose. */
export function storeUnavailable(operation: string, error: unknown): BrokerError {
  return new BrokerError('store_unavailable', { detail: `${operation}: ${describeRedisError(error)}` });
}
