/** @import { StatusCondition, StatusCounts, StatusDocument, StatusMerchant } from '../status-document.js' */
import { conditions, nameOf } from './condition.js';
import { capital, countText, durationText } from './wording.js';

/**
 * @typedef {object} Headline
 * @property {StatusCondition} condition sets the colour
 * @property {string} text
 * @property {string} ending words that change every second and are not read aloud every time
 * @property {string} detail
 * @property {string | undefined} runbook to continue with
 */

/**
 * The state of everything: what the replica says of the worst merchant, and how many there are of each.
 * @param {Pick<StatusDocument, 'store' | 'replica' | 'merchants'>} document
 * @param {StatusCounts} counts
 * @param {number} now
 * @returns {Headline}
 */
export function headlineOf(document, counts, now) {
  const { shuttingDown } = document.replica;
  const { detail, ...said } = sentenceOf(document, counts, now);
  const condition = said.condition === 'fresh' && shuttingDown ? 'failing' : said.condition;
  return { ...said, condition, detail: shuttingDown ? 'This replica is shutting down.' : detail };
}

/**
 * @param {Pick<StatusDocument, 'store' | 'merchants'>} document
 * @param {StatusCounts} counts
 * @param {number} now
 * @returns {Headline}
 */
function sentenceOf({ store, merchants }, counts, now) {
  const worst = conditions.find((condition) => counts[condition] > 0) ?? 'fresh';
  if (worst === 'fresh') return wellSentence(store.cause, counts.fresh);
  const alike = merchants.filter(({ condition }) => condition === worst);
  const cause = alike[0]?.cause;
  return {
    condition: worst,
    text: `${whoText(alike, counts[worst])}: ${cause?.text ?? nameOf(worst)}`,
    ending: goesOn.has(worst) ? endText(alike[0], now) : '',
    detail: [cause === undefined ? '' : `${capital(cause.remedy)}.`, othersText(counts, worst)].join(' ').trim(),
    runbook: cause?.runbook,
  };
}

/**
 * @param {readonly StatusMerchant[]} alike those that are listed
 * @param {number} count of all of them
 */
function whoText(alike, count) {
  const [first] = alike;
  if (count === 1 && first !== undefined) return first.id;
  const areAlike = alike.every(({ cause }) => cause?.text === first?.cause?.text);
  return `${countText(count, 'merchant', 'merchants')}${areAlike ? '' : `, ${first?.id} first`}`;
}

/**
 * @param {StatusMerchant | undefined} merchant
 * @param {number} now
 */
function endText(merchant, now) {
  if (merchant?.session === undefined) return '';
  return `; the session of ${merchant.id} ends in ${durationText(merchant.session.expiresAt - now)}`;
}

/** @type {ReadonlySet<StatusCondition>} Payments go on until the session ends. */
const goesOn = new Set(['stale', 'failing']);

/**
 * @param {StatusDocument['store']['cause']} trouble
 * @param {number} count
 * @returns {Headline}
 */
function wellSentence(trouble, count) {
  const good = count === 1 ? 'the session is good' : `all ${count.toLocaleString('en')} sessions are good`;
  const text = capital(count === 0 ? 'no merchant is configured' : good);
  const none = { ending: '', detail: '', runbook: undefined };
  if (trouble === undefined || count === 0) return { ...none, condition: 'fresh', text };
  const { text: said, remedy, runbook } = trouble;
  return { condition: 'failing', text: `${said}; ${good}`, ending: '', detail: `${capital(remedy)}.`, runbook };
}

/**
 * @param {StatusCounts} counts
 * @param {StatusCondition} worst
 * @returns the rest, so that the worst does not hide it
 */
function othersText(counts, worst) {
  const others = conditions.filter((condition) => condition !== worst && counts[condition] > 0);
  const texts = others.map((one) => `${counts[one].toLocaleString('en')} ${nameOf(one).toLowerCase()}`);
  return texts.length === 0 ? '' : `Others: ${texts.join(' · ')}`;
}
