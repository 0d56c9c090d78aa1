import type { StoreConfiguration } from '#libs/configuration';

/**
 * Replicas reconnect within a second, notice within another quarter of a second that the store answers, and then read
 * it.
 */
const SHARED_STORE_MS = 1_500;

/** How long other replicas get to restore what a store has lost; a store in this process has no other replicas. */
export function graceMsFor({ type }: Pick<StoreConfiguration, 'type'>): number {
  return type === 'redis' ? SHARED_STORE_MS : 0;
}
