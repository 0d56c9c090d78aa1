import { BrokerError } from '#libs/errors';

/** The one failure of the store that callers may live with: it does not answer. Anything else is a bug and goes up. */
export function isStoreOutage(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'store_unavailable';
}
