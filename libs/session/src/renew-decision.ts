import type { ServeFacts } from './serve-decision.js';
import { type Check, firstVerdict } from './verdict.js';

export interface ReadFacts extends ServeFacts {
  /** How long the session has existed. */
  readonly ageMs: number;
  /** What the reader wants to be left, zero when anything will do. */
  readonly minRemainingMs: number;
}

/** `wait`: the reader has nothing to use yet. `background`: it is served at once and the renewal goes on beside it. */
export type RenewVerdict =
  | { readonly renew: 'no'; readonly reason: 'current' }
  | { readonly renew: 'background'; readonly reason: 'past_margin' }
  | { readonly renew: 'wait'; readonly reason: 'no_session' | 'expired' | 'less_than_wanted' };

/** A session younger than this is not replaced because a reader wants more: asking for more than a lifetime would loop. */
export const EARLY_RENEWAL_COOL_DOWN_MS = 10_000;

const renewChecks: readonly Check<ReadFacts, RenewVerdict>[] = [
  (facts) => (facts.held ? undefined : { renew: 'wait', reason: 'no_session' }),
  (facts) => (facts.leftMs > 0 ? undefined : { renew: 'wait', reason: 'expired' }),
  (facts) =>
    facts.leftMs < facts.minRemainingMs && facts.ageMs >= EARLY_RENEWAL_COOL_DOWN_MS
      ? { renew: 'wait', reason: 'less_than_wanted' }
      : undefined,
  (facts) => (facts.freshMs > 0 ? undefined : { renew: 'background', reason: 'past_margin' }),
];

const NO_RENEWAL: RenewVerdict = { renew: 'no', reason: 'current' };

/** Whether a read has to set a renewal going, and whether it waits for it. In order; the first verdict counts. */
export function decideRenewal(facts: ReadFacts): RenewVerdict {
  return firstVerdict(renewChecks, facts, NO_RENEWAL);
}
