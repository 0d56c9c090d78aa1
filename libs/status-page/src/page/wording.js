/** @import { StatusMerchant } from '../status-document.js' */

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
 * @returns how far the gateway's clock is ahead of the replica's, or behind
 */
export function skewText(ms) {
  return `gateway ${(Math.abs(ms) / S).toFixed(1)} s ${ms < 0 ? 'behind' : 'ahead'}`;
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
 * What happens next to a merchant, in a few words.
 * @param {StatusMerchant} merchant
 * @param {number} now
 */
export function outlookText({ session, renewing, retryAt, renewalBlocked, failure }, now) {
  if (renewing) return 'creating the next session';
  if (renewalBlocked) return 'nothing is renewed';
  if (retryAt !== undefined && retryAt > now) {
    const isLate = session !== undefined && now < session.expiresAt && retryAt >= session.expiresAt;
    return `next attempt ${isLate ? 'after its end, ' : ''}in ${durationText(retryAt - now)}`;
  }
  const isOnSchedule = failure === undefined && session !== undefined && session.renewAt > now;
  return isOnSchedule ? `renews in ${durationText(session.renewAt - now)}` : 'next attempt is due';
}

/**
 * @param {StatusMerchant} merchant
 * @param {number} now
 * @returns what has happened to it last
 */
export function lastText({ session, failure }, now) {
  const renewed = session && `generation ${session.generation}, renewed ${agoText(now - session.createdAt)}`;
  const failed = failure && `failed ${agoText(now - failure.at)} (${failure.code ?? failure.kind})`;
  return [renewed, failed].filter(Boolean).join('; ');
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
 * @param {number} now
 * @returns in UTC, as in logs and causes, with the day unless it is today
 */
export function timeText(at, now) {
  const [day = '', time = ''] = new Date(at).toISOString().split(/[T.]/);
  return `${new Date(now).toISOString().startsWith(day) ? '' : `${day} `}${time} UTC`;
}

/** @param {string} text */
export function capital(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
