import { BrokerError } from '#libs/errors';

/** When to ask again for what needs the store, while the store does not work. */
export const STORE_RETRY_MS = 1_000;

/**
 * The failures of the store that callers may live with: it is silent, or it refuses. Anything else is a bug, and is
 * thrown on.
 */
export function isStoreOutage(error: unknown): error is BrokerError {
  return isStoreSilence(error) || isStoreRefusal(error);
}

/** The store answered that it will not; what was asked of it was not done. */
export function isStoreRefusal(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'store_refused';
}

/** The store did not answer; what was asked of it may have been done. */
export function isStoreSilence(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'store_unavailable';
}
