/** @import { StatusCondition, StatusCounts, StatusMerchant } from '../status-document.js' */

/**
 * Worst first, in the words of `conditionWord`; a test keeps the two in sync.
 * @type {Readonly<Record<StatusCondition, string>>}
 */
export const conditionNames = {
  unavailable: 'No session',
  foreign_authorizer: 'Ended by others',
  reported_dead: 'Reported dead',
  likely_dead: 'Likely dead',
  unshared: 'Not shared',
  watched: 'Watched',
  stale: 'Past margin',
  held_back: 'Not renewed',
  failing: 'Failing',
  renewing: 'Renewing',
  fresh: 'Fresh',
};

export const conditions = /** @type {readonly StatusCondition[]} */ (Object.keys(conditionNames));

/** @type {ReadonlySet<string>} Known from reports: such a session is renewed at the next report, or when it is due. */
export const reported = new Set(['foreign_authorizer', 'reported_dead']);

/** @type {ReadonlySet<string>} The session is dead, or may be, so the time it has left does not matter. */
export const dead = new Set([...reported, 'likely_dead']);

/** @type {ReadonlySet<string>} Time alone changes these only when the session ends. */
const untilItsEnd = new Set([...dead, 'unshared', 'watched']);

/** @type {ReadonlySet<StatusCondition>} The session is good; while it stays so, only news ends these. */
const lasting = new Set(['held_back', 'failing']);

/**
 * A merchant's condition now, from the last news of it. Time alone can only make it worse; only news makes it better.
 * @param {StatusMerchant} merchant
 * @param {number} now by the replica's clock
 * @returns {StatusCondition}
 */
export function conditionAt({ condition, session, renewing, renewalBlocked }, now) {
  if (session === undefined || condition === 'unavailable' || now >= session.expiresAt) return 'unavailable';
  if (untilItsEnd.has(condition)) return condition;
  if (condition === 'stale' || now >= session.mustRenewAt) return 'stale';
  if (lasting.has(condition)) return condition;
  if (condition !== 'renewing' && now < session.renewAt) return 'fresh';
  return renewalBlocked && !renewing ? 'held_back' : 'renewing';
}

/**
 * Whether the next attempt comes after the end of its session.
 * @param {StatusMerchant} merchant
 * @param {number} now
 */
export function isNextTooLate({ session, retryAt }, now) {
  if (session === undefined || retryAt === undefined) return false;
  return now < session.expiresAt && retryAt >= session.expiresAt;
}

/**
 * Whether no attempt comes before its session ends, and a person can make one: once the budget is spent, nobody can.
 * @param {StatusMerchant} merchant
 * @param {number} now
 */
export function endsUnrenewed(merchant, now) {
  const { renewing, renewalBlocked, budgetSpent } = merchant;
  if (renewing || renewalBlocked || budgetSpent) return false;
  const condition = conditionAt(merchant, now);
  return ['failing', 'stale', 'watched'].includes(condition) && isNextTooLate(merchant, now);
}

/**
 * Whether every attempt fails until a person has fixed something at the bank, in the certificate or in the
 * configuration. `ownKey` is set while the bank seals to a key other than ours.
 * @param {StatusMerchant} merchant
 */
export function takesPerson({ failure, ownKey, keys }) {
  return ownKey !== undefined || keys === 'lacking' || failure?.kind === 'refused' || failure?.kind === 'revoked';
}

/** The gateway's codes for a session that a newer one has ended. */
const SUPERSEDED = new Set(['b_previous_auth_token_expired', 'b_used_token']);

/**
 * Whether a session that is reported dead is certainly dead: the gateway itself said that a newer one has ended it, or
 * somebody else has a key that we lack.
 * @param {StatusMerchant} merchant
 */
export function isSurelyDead({ keys, ownKey = keys, reportedAs = [] }) {
  return ownKey !== undefined || reportedAs.some((code) => SUPERSEDED.has(code));
}

/**
 * @param {StatusMerchant} merchant
 * @param {number} now
 * @returns the condition in words; those for `unavailable` depend on the reason
 */
export function conditionName(merchant, now) {
  const condition = conditionAt(merchant, now);
  return condition === 'unavailable' && merchant.session !== undefined ? 'Expired' : conditionNames[condition];
}

/**
 * @typedef {object} Life What is left of a session. Fractions are of its whole life, from 0 to 1, measured from its end.
 * @property {number} leftMs zero once it has expired
 * @property {number} lifetimeMs
 * @property {number} left
 * @property {number} renew from here on it is renewed
 * @property {number} margin from here on it is not handed out as fresh
 */

/**
 * @param {StatusMerchant} merchant
 * @param {number} now
 * @returns {Life | undefined} undefined when there is no session
 */
export function lifeAt({ session }, now) {
  if (session === undefined) return undefined;
  const { createdAt, renewAt, mustRenewAt, expiresAt } = session;
  const lifetimeMs = Math.max(1, expiresAt - createdAt);
  const share = (/** @type {number} */ ms) => Math.min(1, Math.max(0, ms / lifetimeMs));
  const leftMs = Math.max(0, expiresAt - now);
  return {
    leftMs,
    lifetimeMs,
    left: share(leftMs),
    renew: share(expiresAt - renewAt),
    margin: share(expiresAt - mustRenewAt),
  };
}

/**
 * @param {readonly StatusMerchant[]} merchants
 * @param {number} now
 */
export function countConditions(merchants, now) {
  const counts = /** @type {Record<StatusCondition, number>} */ (
    Object.fromEntries(conditions.map((condition) => [condition, 0]))
  );
  for (const merchant of merchants) counts[conditionAt(merchant, now)] += 1;
  return counts;
}
