import { decide, type DecisionTable, otherwise } from './decision-table.js';
import { EARLY_RENEWAL_COOL_DOWN_MS } from './triggers.js';
import { isExpired, isMissing, isPastMargin, type ServeFacts } from './serve-decision.js';

interface ReadFacts extends ServeFacts {
  /** How long the session has existed. */
  readonly ageMs: number;
  /** From its creation to its expiry. */
  readonly lifetimeMs: number;
  /** How much of the lifetime the reader wants left; zero when any session will do. */
  readonly minRemainingMs: number;
}

/** `wait`: the reader has nothing to use yet. `background`: it is served at once while the renewal goes on. */
export type RenewVerdict =
  | { readonly renew: 'no'; readonly reason: 'current' }
  | { readonly renew: 'background'; readonly reason: 'past_margin' }
  | { readonly renew: 'wait'; readonly reason: 'no_session' | 'expired' | 'less_than_wanted' };

/** Wishes for more time cost at most one create call per this share of a lifetime, however many readers have them. */
const SETTLED_SHARE = 0.25;
/** A wish for more than this share of a lifetime would be unmet again soon after it was fulfilled. */
const MAX_WISHED_SHARE = 0.75;

const isSettled = ({ ageMs, lifetimeMs }: ReadFacts): boolean =>
  ageMs >= Math.max(EARLY_RENEWAL_COOL_DOWN_MS, SETTLED_SHARE * lifetimeMs);

const couldBeFulfilled = ({ minRemainingMs, lifetimeMs }: ReadFacts): boolean =>
  minRemainingMs <= MAX_WISHED_SHARE * lifetimeMs;

const hasLessThanWanted = (facts: ReadFacts): boolean =>
  facts.leftMs < facts.minRemainingMs && isSettled(facts) && couldBeFulfilled(facts);

const renewing: DecisionTable<ReadFacts, RenewVerdict> = [
  [isMissing, { renew: 'wait', reason: 'no_session' }],
  [isExpired, { renew: 'wait', reason: 'expired' }],
  [hasLessThanWanted, { renew: 'wait', reason: 'less_than_wanted' }],
  [isPastMargin, { renew: 'background', reason: 'past_margin' }],
  [otherwise, { renew: 'no', reason: 'current' }],
];

/** Whether a read has to start a renewal, and whether it waits for it. */
export function decideRenewal(facts: ReadFacts): RenewVerdict {
  return decide(renewing, facts);
}
