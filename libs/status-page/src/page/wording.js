/** @import { StatusMerchant, StatusRenewal } from '../status-document.js' */

const S = 1_000;
const MIN = 60 * S;
const H = 60 * MIN;
const DAY = 24 * H;

/**
 * A duration in its two largest units, rounded down, so that nothing is said to have more time than it has.
 * @param {number} ms
 * @returns such as `11 min 32 s`
 */
export function durationText(ms) {
  const value = Math.max(0, ms);
  if (value < MIN) return `${Math.floor(value / S)} s`;
  if (value < H) return `${Math.floor(value / MIN)} min ${Math.floor((value % MIN) / S)} s`;
  if (value < DAY) return `${Math.floor(value / H)} h ${Math.floor((value % H) / MIN)} min`;
  return `${Math.floor(value / DAY)} d ${Math.floor((value % DAY) / H)} h`;
}

/**
 * @param {number} ms
 * @returns in one unit, for what is past: `2 min ago`
 */
export function agoText(ms) {
  if (ms < 2 * S) return 'just now';
  if (ms < 2 * MIN) return `${Math.floor(ms / S)} s ago`;
  if (ms < 2 * H) return `${Math.floor(ms / MIN)} min ago`;
  return ms < 2 * DAY ? `${Math.floor(ms / H)} h ago` : `${Math.floor(ms / DAY)} d ago`;
}

/**
 * @param {number} ms
 * @returns how long something took
 */
export function tookText(ms) {
  return ms < 10 * S ? `${Math.round(ms)} ms` : `${(ms / S).toFixed(1)} s`;
}

/**
 * @param {number} ms
 * @returns how far the gateway's clock is ahead of the replica's, or behind
 */
export function skewText(ms) {
  return `gateway ${tookText(Math.abs(ms))} ${ms < 0 ? 'behind' : 'ahead'}`;
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} many
 */
export function countText(count, one, many) {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/**
 * @param {StatusMerchant} merchant
 * @param {number} now
 * @returns how long its session is still good for, or how long ago it expired
 */
export function leftText({ session }, now) {
  if (session === undefined) return 'nothing to serve';
  const leftMs = session.expiresAt - now;
  return leftMs > 0 ? `${durationText(leftMs)} left` : `expired ${agoText(-leftMs)}`;
}

/**
 * Whether the next attempt comes after the end of the session.
 * @param {StatusMerchant['session']} session
 * @param {number} retryAt
 * @param {number} now
 */
function isTooLate(session, retryAt, now) {
  return session !== undefined && now < session.expiresAt && retryAt >= session.expiresAt;
}

/**
 * What happens next to a merchant, in a few words.
 * @param {StatusMerchant} merchant
 * @param {number} now
 */
export function outlookText({ condition, session, renewing, retryAt, renewalBlocked, budgetSpent, failure }, now) {
  if (renewing) return 'creating the next session';
  if (renewalBlocked) return 'nothing is renewed';
  if (retryAt !== undefined && retryAt - now >= S) {
    const isLate = isTooLate(session, retryAt, now);
    return `${budgetSpent ? 'create-call budget spent, ' : ''}next attempt ${isLate ? 'after its end, ' : ''}in ${durationText(retryAt - now)}`;
  }
  if (budgetSpent) return 'create-call budget spent';
  const isOnSchedule = failure === undefined && !['unavailable', 'stale'].includes(condition);
  if (session === undefined || !isOnSchedule) return 'next attempt is due';
  return session.renewAt > now ? `renews in ${durationText(session.renewAt - now)}` : 'renewal is due';
}

/** @type {Readonly<Record<StatusRenewal['outcome'], string>>} */
export const outcomeNames = {
  success: 'renewed',
  adopted: 'taken from the store',
  transient: 'transient failure',
  timeout: 'timed out',
  refused: 'refused',
  revoked: 'revoked',
  invalid_response: 'invalid response',
  key_unavailable: 'key out of reach',
  lease_lost: 'lease lost',
};

/**
 * @param {StatusRenewal} renewal
 * @param {number} now
 * @returns such as `2 min ago · schedule · 124 ms`
 */
export function renewalText(renewal, now) {
  const ago = agoText(now - renewal.at);
  if (renewal.outcome !== 'success') return `${ago} · ${outcomeNames[renewal.outcome]}`;
  return `${ago} · ${renewal.trigger} · ${tookText(renewal.callMs)}`;
}

/**
 * Where this replica serves its text.
 * @param {string} runbook
 */
export function runbookPath(runbook) {
  return `runbooks/${runbook}.md`;
}

/**
 * @param {number} at
 * @returns in UTC, as in logs and causes
 */
export function clockText(at) {
  return new Date(at).toISOString().slice(11, 19);
}

/**
 * @param {number} at
 * @param {number} now
 * @returns with the zone, and with the day unless it is today
 */
export function timeText(at, now) {
  const [day = '', today] = [at, now].map((moment) => new Date(moment).toISOString().slice(0, 10));
  return `${day === today ? '' : `${day} `}${clockText(at)} UTC`;
}

/** @param {string} text */
export function capital(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
