/** A decision, read from the top: the verdict next to the first check that holds counts. */
export interface DecisionTable<Facts, Verdict> {
  readonly checks: readonly (readonly [holds: (facts: Facts) => boolean, verdict: Verdict])[];
  readonly otherwise: Verdict;
}

export function decide<Facts, Verdict>({ checks, otherwise }: DecisionTable<Facts, Verdict>, facts: Facts): Verdict {
  const [, verdict] = checks.find(([holds]) => holds(facts)) ?? [undefined, otherwise];
  return verdict;
}

/** What is known about the session in memory at the moment of a read. Durations in milliseconds. */
export interface ServeFacts {
  readonly held: boolean;
  /** Until expiry; zero or less once it has passed. */
  readonly leftMs: number;
  readonly freshMs: number;
}

/** `reason` is the same word in the API, the logs, the metrics and the docs. */
export type ServeVerdict =
  | { readonly result: 'fresh'; readonly reason: 'current' }
  | { readonly result: 'stale'; readonly reason: 'past_margin' }
  | { readonly result: 'unavailable'; readonly reason: 'no_session' | 'expired' };

const isMissing = ({ held }: ServeFacts): boolean => !held;
const isExpired = ({ leftMs }: ServeFacts): boolean => leftMs <= 0;
const isPastMargin = ({ freshMs }: ServeFacts): boolean => freshMs <= 0;

/** A valid session is served whatever fails; an expired one is never served. */
const serving: DecisionTable<ServeFacts, ServeVerdict> = {
  checks: [
    [isMissing, { result: 'unavailable', reason: 'no_session' }],
    [isExpired, { result: 'unavailable', reason: 'expired' }],
    [isPastMargin, { result: 'stale', reason: 'past_margin' }],
  ],
  otherwise: { result: 'fresh', reason: 'current' },
};

export function decideServing(facts: ServeFacts): ServeVerdict {
  return decide(serving, facts);
}

export interface ReadFacts extends ServeFacts {
  readonly ageMs: number;
  readonly lifetimeMs: number;
  /** How much of the lifetime the reader wants left; zero when any session will do. */
  readonly minRemainingMs: number;
}

/** Between two sessions that are created because readers wanted more time, across all replicas. */
export const EARLY_RENEWAL_COOL_DOWN_MS = 10_000;
/** Wishes for more time cost at most one create call per this share of a lifetime, however many readers have them. */
const SETTLED_SHARE = 0.25;
/** A wish for more than this share of a lifetime would be unmet again soon after it was fulfilled. */
const MAX_WISHED_SHARE = 0.75;

const hasLessThanWanted = ({ leftMs, ageMs, lifetimeMs, minRemainingMs }: ReadFacts): boolean =>
  leftMs < minRemainingMs &&
  ageMs >= Math.max(EARLY_RENEWAL_COOL_DOWN_MS, SETTLED_SHARE * lifetimeMs) &&
  minRemainingMs <= MAX_WISHED_SHARE * lifetimeMs;

/** Whether a read has to wait for a renewal: it has nothing to use yet, or less than it wants. */
export function waitsForRenewal(facts: ReadFacts): boolean {
  return isExpired(facts) || hasLessThanWanted(facts);
}
