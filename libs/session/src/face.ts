import { meansStoreIsAhead, type RenewalResult } from './ports/session-store.js';
import type { HeldSessions } from './held-sessions.js';
import type { Input } from './life.js';
import type { Cause, RefusedWish, StoreTrouble } from './merchant-condition.js';
import type { Explainer } from './session-unavailable.js';
import { isStoreOutage } from './store-health.js';

type Wanted = Omit<Extract<Input, { readonly on: 'wanted' }>, 'on'>;

/** What readers, consumers who report and operators have in common: they wish, look up, and wait. */
export interface ReplicaFace extends Explainer {
  readonly held: HeldSessions;
  readonly driver: {
    wish(merchant: string, wanted: Wanted): Promise<RenewalResult>;
    say(merchant: string, input: Extract<Input, { readonly on: 'rejected' | 'unreplaced' | 'kept' }>): void;
    lookUp(merchant: string, how?: { readonly anew: boolean }): Promise<void>;
    retryAfterMs(merchant: string): number | undefined;
    explainRefusal(wish: RefusedWish): Cause | undefined;
    readonly isStopping: boolean;
    readonly storeTrouble: StoreTrouble | undefined;
    reportBroken(activity: string, error: unknown): void;
  };
}

/**
 * Wishes for a newer session, and reads the store if it turns out to be ahead: then another replica has published in the
 * meantime, and its session is all that is wanted. An outage of the store is a result, not an error.
 */
export async function followed({ driver }: ReplicaFace, merchant: string, wanted: Wanted): Promise<RenewalResult> {
  const result = await driver.wish(merchant, wanted);
  if (!meansStoreIsAhead(result)) return result;
  try {
    await driver.lookUp(merchant, { anew: true });
    return result;
  } catch (error) {
    if (!isStoreOutage(error)) throw error;
    return { kind: 'store_down', retryInMs: 1_000 };
  }
}
