import type { HeldSessions } from './held-sessions.js';
import type { ServeVerdict } from './serve-decision.js';
import type { SessionReader } from './session-reader.js';

/** How a merchant is, worst first; docs/status-page.md explains each. */
export const merchantConditions = [
  'unavailable',
  'foreign_authorizer',
  'reported_dead',
  'likely_dead',
  'unshared',
  'watched',
  'stale',
  'held_back',
  'failing',
  'renewing',
  'fresh',
] as const;

export type MerchantCondition = (typeof merchantConditions)[number];

/**
 * The colour in which it is shown to people, on the status page and by the command line. Red: payments fail, or may be
 * failing now. Yellow: they work, and stop with the session unless something is fixed, or if whoever ended earlier
 * sessions ends this one: somebody else who creates, or another replica with another key.
 */
export const conditionColours = {
  unavailable: 'red',
  foreign_authorizer: 'red',
  reported_dead: 'red',
  likely_dead: 'red',
  unshared: 'red',
  watched: 'yellow',
  stale: 'yellow',
  held_back: 'yellow',
  failing: 'yellow',
  renewing: 'blue',
  fresh: 'green',
} as const satisfies Record<MerchantCondition, string>;

/**
 * The words in which it is shown to people, on the status page and by the command line. `unavailable` has two of them:
 * a session that has expired and one that never existed are looked for in different places.
 */
const words = {
  unavailable: 'no session',
  expired: 'expired',
  stale: 'past margin',
  foreign_authorizer: 'ended by others',
  reported_dead: 'reported dead',
  likely_dead: 'likely dead',
  unshared: 'not shared',
  watched: 'watched',
  held_back: 'not renewed',
  failing: 'failing',
  renewing: 'renewing',
  fresh: 'fresh',
} as const satisfies Record<MerchantCondition | 'expired', string>;

/** The word for a merchant in `condition`, served or not for `reason`. */
export function conditionWord(condition: MerchantCondition, reason: ServeVerdict['reason'] | undefined): string {
  return words[condition === 'unavailable' && reason === 'expired' ? reason : condition];
}

/** What a condition is derived from: a replica. */
interface Assessed {
  readonly held: Pick<HeldSessions, 'untilRenewalMs' | 'unopened'>;
  readonly failures: { get(merchant: string): unknown };
  readonly reader: Pick<SessionReader, 'verdict'>;
  isRenewing(merchant: string): boolean;
  hasForeignAuthorizer(merchant: string): boolean;
  watchedUntil(merchant: string): unknown;
  strayKey(merchant: string): unknown;
  isReportedDead(merchant: string): boolean;
  isLikelyDead(merchant: string): boolean;
  isUnshared(merchant: string): boolean;
  isHeldBack(merchant: string): boolean;
}

/** How a merchant is at this moment, as the replica sees it. */
export function conditionOf(replica: Assessed, merchant: string): MerchantCondition {
  const { result } = replica.reader.verdict(merchant);
  if (result === 'unavailable') return result;
  if (replica.hasForeignAuthorizer(merchant)) {
    return replica.watchedUntil(merchant) === undefined ? 'foreign_authorizer' : 'watched';
  }
  if (replica.isReportedDead(merchant)) return 'reported_dead';
  if (replica.isLikelyDead(merchant)) return 'likely_dead';
  if (replica.isUnshared(merchant)) return 'unshared';
  return result === 'stale' ? result : goodConditionOf(replica, merchant);
}

/** For a merchant whose payments work for now. */
function goodConditionOf(replica: Assessed, merchant: string): MerchantCondition {
  if (replica.isHeldBack(merchant)) return 'held_back';
  if (replica.failures.get(merchant) !== undefined || replica.held.unopened(merchant) !== undefined) return 'failing';
  if (replica.strayKey(merchant) !== undefined) return 'watched';
  return replica.isRenewing(merchant) || replica.held.untilRenewalMs(merchant) <= 0 ? 'renewing' : 'fresh';
}
