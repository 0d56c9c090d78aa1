/** @import { StatusCondition, StatusCounts, StatusDocument, StatusMerchant } from '../status-document.js' */
/** @import { StoreTrouble } from './store-trouble.js' */
/** @import { Matter } from './wording.js' */
import { conditions, endsUnrenewed } from './condition.js';
import { firstToEnd, storeTroubleOf, troubleDetail } from './store-trouble.js';
import { countText, durationText, FOREIGN_AUTHORIZER, matterOf, renewCommand } from './wording.js';

/**
 * @typedef {object} Headline
 * @property {StatusCondition} condition what colours it
 * @property {string} text
 * @property {string} ending its last words, which change each second and are not read aloud each time
 * @property {string} detail
 * @property {string | undefined} runbook to go on with
 */

/** @typedef {Pick<Headline, 'text'> & Partial<Headline>} Sentence */

/**
 * @typedef {object} View
 * @property {readonly StatusMerchant[]} merchants
 * @property {StatusCounts} counts
 * @property {number} all how many merchants there are, listed or not
 * @property {StatusCondition} worst
 * @property {StoreTrouble | undefined} trouble
 * @property {number} now
 */

/** @type {Readonly<Record<StatusCondition, (count: number, all: number) => string>>} */
const sentences = {
  unavailable: (count, all) =>
    all === 1
      ? 'There is no session to serve'
      : `${countText(count, 'merchant has', 'merchants have')} no session to serve`,
  stale: (count) => `${countText(count, 'session is', 'sessions are')} past the safety margin`,
  foreign_authorizer: (count) =>
    `Payments fail: somebody else ends the sessions of ${countText(count, 'merchant', 'merchants')} by creating others`,
  reported_dead: (count) => `Payments of ${countText(count, 'merchant', 'merchants')} may fail`,
  held_back: (count) => countText(count, 'renewal is due and not made', 'renewals are due and not made'),
  failing: (count) => countText(count, 'renewal fails', 'renewals fail'),
  renewing: (_count, all) => sentences.fresh(all, all),
  fresh: (count) => (count === 1 ? 'The session is good' : `All ${count.toLocaleString('en')} sessions are good`),
};

/** Where a store that is away is dealt with. */
const STORE_DOWN = 'store-down';
const SESSION_EXPIRING = 'session-expiring';

/** @type {ReadonlySet<StatusCondition>} Payments go on, so that what the store holds up is the news. */
const bearable = new Set(['stale', 'held_back', 'failing', 'renewing', 'fresh']);

/**
 * The state of everything in one sentence: the worst of it, and what is the cause.
 * @param {Pick<StatusDocument, 'store' | 'replica' | 'merchants'>} document
 * @param {StatusCounts} counts
 * @param {number} now
 * @returns {Headline}
 */
export function headlineOf({ store, replica, merchants }, counts, now) {
  const all = conditions.reduce((sum, condition) => sum + counts[condition], 0);
  const none = { ending: '', detail: '', runbook: undefined };
  if (all === 0) return { ...none, condition: 'renewing', text: 'No merchant is configured' };
  const worst = conditions.find((condition) => counts[condition] > 0) ?? 'fresh';
  const trouble = storeTroubleOf({ store, merchants });
  /** @type {View} */
  const view = { merchants, counts, all, worst, trouble, now };
  const sentence = heldSentence(view) ?? lastCallSentence(view) ?? quietSentence(view) ?? worstSentence(view);
  const stopping = replica.shuttingDown ? { detail: 'This replica is shutting down.' } : {};
  const { condition = worst, ...said } = { ...none, detail: othersText(counts, worst), ...sentence, ...stopping };
  const isCalm = condition === 'fresh' || condition === 'renewing';
  return { ...said, condition: isCalm ? (replica.shuttingDown ? 'failing' : 'fresh') : condition };
}

/**
 * What the store holds up comes before everything but payments that fail.
 * @param {View} view
 * @returns {Sentence | undefined}
 */
function heldSentence({ merchants, counts, all, worst, trouble, now }) {
  if (trouble === undefined || !bearable.has(worst)) return undefined;
  const { held, said } = trouble;
  const isCalm = worst === 'fresh' || worst === 'renewing';
  if (held === undefined && !isCalm) return undefined;
  const good = sentences.fresh(all, all);
  const text =
    held === undefined ? `${capital(said)}; ${good.charAt(0).toLowerCase()}${good.slice(1)}` : `${held}: ${said}`;
  const detail = troubleDetail(trouble, counts.unavailable < all);
  const condition = isCalm ? 'failing' : worst;
  return { condition, text, ending: endText(merchants, all, now), detail, runbook: STORE_DOWN };
}

/**
 * Sessions that end before anybody tries again: only a person keeps their merchants going.
 * @param {View} view
 * @returns {Sentence | undefined}
 */
function lastCallSentence({ merchants, worst, now }) {
  if (worst !== 'failing' && worst !== 'held_back') return undefined;
  const ending = merchants
    .flatMap((merchant) =>
      endsUnrenewed(merchant, now) ? [{ ...merchant, leftMs: (merchant.session?.expiresAt ?? now) - now }] : [],
    )
    .sort((left, right) => left.leftMs - right.leftMs);
  const [first] = ending;
  if (first === undefined) return undefined;
  const isOne = ending.length === 1;
  const left = durationText(first.leftMs);
  const because = first.cause === undefined ? '' : `: ${steady(first.cause.text)}`;
  return {
    condition: 'unavailable',
    text: isOne
      ? `Renew ${first.id} by hand: its session ends before the next attempt${because}`
      : `Renew ${ending.length} merchants by hand: their sessions end before the next attempt; ${first.id}${because}`,
    ending: isOne ? `; it ends in ${left}` : `; its session ends in ${left}`,
    detail: renewCommand(first.id),
    runbook: first.cause?.runbook ?? SESSION_EXPIRING,
  };
}

/**
 * A duel that has gone quiet is no all-clear: who still creates is not heard while nobody pays.
 * @param {View} view
 * @returns {Sentence | undefined}
 */
function quietSentence({ merchants, worst, now }) {
  if (worst !== 'fresh' && worst !== 'renewing') return undefined;
  const quiet = merchants.filter(({ quietSince }) => quietSince !== undefined);
  const [first] = quiet;
  if (first === undefined) return undefined;
  const whose = quiet.length === 1 ? first.id : `${quiet.length} merchants`;
  const since = Math.max(...quiet.map(({ quietSince }) => quietSince ?? 0));
  return {
    condition: 'failing',
    text: `Somebody else may still create sessions of ${whose}; no consumer has reported a dead one`,
    ending: ` for ${durationText(now - since)}`,
    runbook: FOREIGN_AUTHORIZER,
  };
}

/**
 * @param {View} view
 * @returns {Sentence}
 */
function worstSentence({ merchants, counts, all, worst, trouble, now }) {
  const [only] = merchants;
  const causes = merchants.flatMap((merchant) => {
    const matter = merchant.condition === worst && merchant.cause !== undefined ? matterOf(merchant, now) : undefined;
    return matter === undefined ? [] : [{ id: merchant.id, ...matter, text: steady(matter.text) }];
  });
  const runbook = causes[0]?.runbook ?? (trouble === undefined ? undefined : STORE_DOWN);
  const isNotRenewed = worst === 'failing' || worst === 'held_back';
  if (isNotRenewed && all === 1 && only !== undefined)
    return { ...notRenewed(only, now), ...detailOf(trouble, true), runbook };
  const text = `${sentences[worst](counts[worst], all)}${becauseText(worst, causes)}${stillText(worst)}`;
  const ending = trouble === undefined ? '' : endText(merchants, all, now);
  return { text, ending, ...detailOf(trouble, counts.unavailable < all), runbook };
}

/**
 * @param {StoreTrouble | undefined} trouble
 * @param {boolean} hasSessions
 */
function detailOf(trouble, hasSessions) {
  if (trouble === undefined) return {};
  const named = `${capital(trouble.said)} (${trouble.reason})`;
  return { detail: troubleDetail({ ...trouble, reason: named }, hasSessions) };
}

/**
 * @param {StatusCondition} worst
 * @param {readonly (Matter & { readonly id: string })[]} causes of the merchants that are worst off, the worst first
 * @returns {string} where they are not all the same, that of one
 */
function becauseText(worst, causes) {
  const [first] = causes;
  if (first === undefined || worst === 'foreign_authorizer') return '';
  const isOne = causes.every(({ text }) => text === first.text);
  return isOne ? `: ${first.text}` : `; ${first.id}: ${first.text}`;
}

/** @param {StatusCondition} worst */
function stillText(worst) {
  return worst === 'failing' ? '; the sessions are still good' : '';
}

/**
 * @param {StatusMerchant} merchant the only one
 * @param {number} now
 */
function notRenewed({ id, cause, session }, now) {
  const ending =
    session === undefined ? '' : `; its session is good for another ${durationText(session.expiresAt - now)}`;
  return { text: `${id} is not renewed${cause === undefined ? '' : `: ${steady(cause.text)}`}`, ending };
}

/**
 * @param {readonly StatusMerchant[]} merchants
 * @param {number} all
 * @param {number} now
 */
function endText(merchants, all, now) {
  const first = firstToEnd(merchants, all, now);
  return first === undefined ? '' : `; the session of ${first.id} ends in ${durationText(first.at - now)}`;
}

/**
 * A cause that counts the seconds that are left would be read aloud with each of them.
 * @param {string} text
 */
function steady(text) {
  return text.replace(/; its session is good for another \d+ [a-z]+/, '');
}

/** @param {string} text */
function capital(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
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
    held_back: 'not renewed',
    failing: 'failing',
    renewing: 'renewing',
    fresh: 'fresh',
  };
  return conditions
    .filter((condition) => condition !== worst && counts[condition] > 0)
    .map((condition) => `${counts[condition].toLocaleString('en')} ${words[condition]}`)
    .join(' · ');
}
