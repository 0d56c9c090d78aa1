/** @import { StatusCondition, StatusMerchant } from '../status-document.js' */
import { capital } from './wording.js';

/**
 * Worst first; a test keeps them in step with the domain.
 * @type {readonly StatusCondition[]}
 */
export const conditions = ['unavailable', 'foreign_authorizer', 'dead', 'stale', 'failing', 'fresh'];

/** @param {StatusCondition} condition */
export const nameOf = (condition) => capital(condition.replaceAll('_', ' '));

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
