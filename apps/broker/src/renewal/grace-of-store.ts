import type { StoreConfiguration } from '#libs/configuration';

/**
 * Replicas reconnect within a second, find out within a quarter of a second more that the store answers, and then read
 * it.
 */
const SHARED_STORE_MS = 1_500;

/** How long others are given to tell a store what it has lost; a store in this process has no other replicas. */
export function graceMsFor({ type }: Pick<StoreConfiguration, 'type'>): number {
  return type === 'redis' ? SHARED_STORE_MS : 0;
}
