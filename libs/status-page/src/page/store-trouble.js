/** @import { StatusDocument, StatusMerchant } from '../status-document.js' */
import { dead, reported } from './condition.js';
import { capital, countText, timeText } from './wording.js';

/**
 * @typedef {object} StoreTrouble
 * @property {string} said what it does instead of answering
 * @property {string} reason
 * @property {string} remedy
 * @property {number | undefined} since
 * @property {number} now
 * @property {string | undefined} held what is not renewed because of it
 * @property {boolean} areReported whether sessions are reported dead
 */

/**
 * What an outage of the store means for renewals.
 * @param {Pick<StatusDocument, 'store' | 'merchants'>} document
 * @param {number} now
 * @returns {StoreTrouble | undefined} undefined while it answers
 */
export function storeTroubleOf({ store: { condition, since, reason = 'no reason given', refusal }, merchants }, now) {
  if (condition !== 'silent' && condition !== 'refuses') return undefined;
  const said = `the store (Redis) ${condition === 'silent' ? 'does not answer' : (refusal?.is ?? 'refuses to work')}`;
  const remedy = ` ${refusal?.remedy ?? 'Tell those who run Redis'}.`;
  const areReported = merchants.some((one) => reported.has(one.condition));
  return { said, reason, remedy, since, now, held: heldText(merchants), areReported };
}

/**
 * @param {StoreTrouble} trouble
 * @param {string} served those with which payments go on; empty if there are none
 * @param {string} [named] what the reason belongs to, if the headline does not say it
 * @returns the reason, and what happens without anybody's help
 */
export function troubleDetail({ reason, remedy, since, held, areReported, now }, served, named = 'Reason') {
  const why = `${named}: ${reason}${since === undefined ? '' : `; not working since ${timeText(since, now)}`}.`;
  if (held === undefined) return `${why}${served && ` ${capital(served)} are served from memory.`}${remedy}`;
  const goOn =
    served &&
    ` Until they end, ${served} are served from memory and payments go on, unless session-broker status shows a replica with an older one.`;
  const but = areReported ? '; a session reported dead may wait for the next report, or for session-broker renew' : '';
  return `${why}${goOn}${remedy} Renewals go on by themselves as soon as the store works again${but}.`;
}

/** @param {readonly StatusMerchant[]} merchants */
function heldText(merchants) {
  const count = merchants.filter(({ renewalBlocked }) => renewalBlocked).length;
  if (count === 0) return undefined;
  if (count === merchants.length) return 'Nothing is renewed';
  return countText(count, 'merchant is not renewed', 'merchants are not renewed');
}

/**
 * No end is announced while a merchant that is not listed may have an earlier one.
 * @param {readonly StatusMerchant[]} merchants
 * @param {number} all how many there are
 * @param {number} now
 * @returns {{ readonly id: string, readonly at: number } | undefined} the first session to end because of the store
 */
export function firstToEnd(merchants, all, now) {
  if (merchants.length < all) return undefined;
  const ends = merchants.flatMap(({ id, session, condition, renewalBlocked }) =>
    !renewalBlocked || dead.has(condition) || session === undefined || session.expiresAt <= now
      ? []
      : [{ id, at: session.expiresAt }],
  );
  return ends.sort((left, right) => left.at - right.at)[0];
}
