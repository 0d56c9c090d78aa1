import { BrokerError } from '#libs/errors';

/** When to ask again for something that needs the store, while the store does not work. */
export const STORE_RETRY_MS = 1_000;

/**
 * The store failures that callers can live with: it is silent or refuses. Anything else is a bug, and is rethrown.
 */
export function isStoreOutage(error: unknown): error is BrokerError {
  return isStoreSilence(error) || isStoreRefusal(error);
}

/** The store answered that it will not do what it was asked; it was not done. */
export function isStoreRefusal(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'store_refused';
}

/** The store did not answer; what it was asked may have been done. */
export function isStoreSilence(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'store_unavailable';
}
