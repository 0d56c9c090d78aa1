import { type Check, firstVerdict } from './verdict.js';

/** What is known of the session in memory at the moment of a read. Durations in milliseconds. */
export interface ServeFacts {
  readonly held: boolean;
  /** Until expiry; zero or less once it has passed. */
  readonly leftMs: number;
  /** Until mustRenewAt. */
  readonly freshMs: number;
}

/** `reason` is the same word in the API, the logs, the metrics and the docs. */
export type ServeVerdict =
  | { readonly result: 'fresh'; readonly reason: 'current' }
  | { readonly result: 'stale'; readonly reason: 'past_margin' }
  | { readonly result: 'unavailable'; readonly reason: 'no_session' | 'expired' };

/** In order; the first verdict counts. A valid session is served whatever fails, an expired one never. */
const serveChecks: readonly Check<ServeFacts, ServeVerdict>[] = [
  (facts) => (facts.held ? undefined : { result: 'unavailable', reason: 'no_session' }),
  (facts) => (facts.leftMs > 0 ? undefined : { result: 'unavailable', reason: 'expired' }),
  (facts) => (facts.freshMs > 0 ? undefined : { result: 'stale', reason: 'past_margin' }),
];

const FRESH: ServeVerdict = { result: 'fresh', reason: 'current' };

export function decideServing(facts: ServeFacts): ServeVerdict {
  return firstVerdict(serveChecks, facts, FRESH);
}
