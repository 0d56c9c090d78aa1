/** @import { StatusCause, StatusCondition, StatusCounts, StatusDocument } from '../status-document.js' */
import { conditions } from './condition.js';
import { countText } from './wording.js';

/**
 * @typedef {object} Headline
 * @property {StatusCondition} condition what colours it
 * @property {string} text
 * @property {string} detail
 * @property {string | undefined} runbook to go on with
 */

/** @type {Readonly<Record<StatusCondition, (count: number, all: number) => string>>} */
const sentences = {
  unavailable: (count, all) =>
    all === 1
      ? 'There is no session to serve'
      : `${countText(count, 'merchant has', 'merchants have')} no session to serve`,
  stale: (count) => `${countText(count, 'session is', 'sessions are')} past the safety margin`,
  foreign_authorizer: (count) =>
    `Somebody else ends the sessions of ${countText(count, 'merchant', 'merchants')} by creating others`,
  reported_dead: (count) => `Payments of ${countText(count, 'merchant', 'merchants')} may fail`,
  failing: (count) => countText(count, 'renewal fails', 'renewals fail'),
  renewing: (_count, all) => sentences.fresh(all, all),
  fresh: (count) => (count === 1 ? 'The session is good' : `All ${count.toLocaleString('en')} sessions are good`),
};

/**
 * The state of everything in one sentence: the worst of it, and what is the cause.
 * @param {Pick<StatusDocument, 'store' | 'replica' | 'merchants'>} document
 * @param {StatusCounts} counts
 * @returns {Headline}
 */
export function headlineOf({ store, replica, merchants }, counts) {
  const all = conditions.reduce((sum, condition) => sum + counts[condition], 0);
  if (all === 0) return { condition: 'renewing', text: 'No merchant is configured', detail: '', runbook: undefined };
  const worst = conditions.find((condition) => counts[condition] > 0) ?? 'fresh';
  const causes = merchants.flatMap(({ id, condition, cause }) =>
    condition === worst && cause !== undefined ? [{ id, ...cause }] : [],
  );
  const text = `${sentences[worst](counts[worst], all)}${worst === 'foreign_authorizer' ? '' : becauseText(causes)}${stillText(worst)}`;
  const runbook = causes[0]?.runbook;
  const calm = worst === 'fresh' || worst === 'renewing';
  if (replica.shuttingDown)
    return { condition: calm ? 'failing' : worst, text, detail: 'This replica is shutting down.', runbook };
  const trouble = storeTrouble(store);
  if (trouble !== undefined) return { condition: calm ? 'failing' : worst, text, detail: trouble, runbook };
  return { condition: calm ? 'fresh' : worst, text, detail: othersText(counts, worst), runbook };
}

/**
 * @param {readonly (StatusCause & { readonly id: string })[]} causes of the merchants that are worst off, the worst first
 * @returns {string} where they are not all the same, that of one
 */
function becauseText(causes) {
  const [first] = causes;
  if (first === undefined) return '';
  const isOne = causes.every(({ text }) => text === first.text);
  return isOne ? `: ${first.text}` : `; ${first.id}: ${first.text}`;
}

/** @param {StatusCondition} worst */
function stillText(worst) {
  return worst === 'failing' ? '; the sessions are still good' : '';
}

/**
 * @param {StatusDocument['store']} store
 * @returns {string | undefined}
 */
function storeTrouble({ condition, reason = 'no reason given' }) {
  if (condition === 'silent') return 'The store does not answer: sessions are served from memory.';
  if (condition === 'refuses')
    return `The store refuses (${reason}): sessions are served from memory, and none is created.`;
  return undefined;
}

/**
 * @param {StatusCounts} counts
 * @param {StatusCondition} worst
 * @returns {string} what else there is, so that the worst does not hide the rest
 */
function othersText(counts, worst) {
  /** @type {Readonly<Record<StatusCondition, string>>} */
  const words = {
    unavailable: 'without a session',
    stale: 'past the margin',
    foreign_authorizer: 'ended by others',
    reported_dead: 'reported dead',
    failing: 'failing',
    renewing: 'renewing',
    fresh: 'fresh',
  };
  return conditions
    .filter((condition) => condition !== worst && counts[condition] > 0)
    .map((condition) => `${counts[condition].toLocaleString('en')} ${words[condition]}`)
    .join(' · ');
}
