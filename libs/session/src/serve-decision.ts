import { decide, type DecisionTable, otherwise } from './decision-table.js';

/** What is known about the session in memory at the moment of a read. Durations in milliseconds. */
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

export const isMissing = ({ held }: ServeFacts): boolean => !held;
export const isExpired = ({ leftMs }: ServeFacts): boolean => leftMs <= 0;
export const isPastMargin = ({ freshMs }: ServeFacts): boolean => freshMs <= 0;

/** A valid session is served whatever fails; an expired one is never served. */
const serving: DecisionTable<ServeFacts, ServeVerdict> = [
  [isMissing, { result: 'unavailable', reason: 'no_session' }],
  [isExpired, { result: 'unavailable', reason: 'expired' }],
  [isPastMargin, { result: 'stale', reason: 'past_margin' }],
  [otherwise, { result: 'fresh', reason: 'current' }],
];

export function decideServing(facts: ServeFacts): ServeVerdict {
  return decide(serving, facts);
}
