import { type Check, notApplicable } from '../check.js';

/** Takes the place of all Redis checks. */
export function memoryStoreCheck(): Check {
  return {
    name: 'store.connection',
    needs: ['configuration'],
    limitMs: 1_000,
    run: () => Promise.resolve(notApplicable('store.type is memory: for one replica alone, and empty after a restart')),
  };
}
