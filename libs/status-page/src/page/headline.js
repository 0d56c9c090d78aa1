/** @import { StatusCondition, StatusCounts, StatusDocument, StatusMerchant } from '../status-document.js' */
/** @import { StoreTrouble } from './store-trouble.js' */
/** @import { Matter } from './wording.js' */
import {
  conditionAt,
  conditionNames,
  conditions,
  dead,
  endsUnrenewed,
  isSurelyDead,
  takesPerson,
} from './condition.js';
import { firstToEnd, storeTroubleOf, troubleDetail } from './store-trouble.js';
import {
  capital,
  countText,
  durationText,
  FOREIGN_AUTHORIZER,
  quietText,
  renewCommand,
  reportText,
  timeText,
} from './wording.js';

/**
 * @typedef {object} Headline
 * @property {StatusCondition} condition sets the colour
 * @property {string} text
 * @property {string} ending words that change every second and are not read aloud every time
 * @property {string} because what follows `ending`, if anything does
 * @property {string} detail
 * @property {string | undefined} runbook to continue with
 * @property {string | undefined} also another one
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

/** @type {(who: string, isOne: boolean, isCertain: boolean) => string} */
const notRenewed = (who, isOne) => `${who} ${isOne ? 'gets' : 'get'} no new session`;

/**
 * What is wrong, and whose payments it hurts.
 * @type {Readonly<Record<Exclude<StatusCondition, 'renewing' | 'fresh'>, typeof notRenewed>>}
 */
const sentences = {
  unavailable: (who, isOne) =>
    `${who} ${isOne ? 'has' : 'have'} no session with the bank, and ${isOne ? 'its' : 'their'} payments fail`,
  foreign_authorizer: (who) =>
    `Payments of ${who} fail: somebody else creates sessions with the bank, and each of them ends ours`,
  reported_dead: (who, _isOne, isCertain) => `Payments of ${who} ${isCertain ? 'fail' : 'may fail'}`,
  likely_dead: (who) => `Payments of ${who} very likely fail`,
  unshared: (who) => `Payments of ${who} by other replicas very likely fail`,
  watched: (who) => `Payments of ${who} failed`,
  stale: notRenewed,
  held_back: notRenewed,
  failing: notRenewed,
};

/** @param {number} all */
const goodText = (all) => (all === 1 ? 'the session is good' : `all ${all.toLocaleString('en')} sessions are good`);

const GO_ON = 'The payments of each go on until its own session ends.';

const STORE_DOWN = 'store-down';
const SESSION_EXPIRING = 'session-expiring';

/** @type {ReadonlySet<StatusCondition>} Payments go on until the session ends. */
const endsSoon = new Set(['stale', 'held_back', 'failing']);

/** @type {ReadonlySet<StatusCondition>} */
const calm = new Set(['renewing', 'fresh']);

/** @type {ReadonlySet<StatusCondition>} Payments go on, so the news is what the store holds up. */
const bearable = new Set(['watched', ...endsSoon, ...calm]);

/**
 * The state of everything in one sentence: the worst of it, and the cause.
 * @param {Pick<StatusDocument, 'store' | 'replica' | 'merchants'>} document
 * @param {StatusCounts} counts
 * @param {number} now
 * @returns {Headline}
 */
export function headlineOf({ store, replica, merchants }, counts, now) {
  const all = conditions.reduce((sum, condition) => sum + counts[condition], 0);
  const none = { ending: '', because: '', detail: '', runbook: undefined, also: undefined };
  if (all === 0) return { ...none, condition: 'renewing', text: 'No merchant is configured' };
  const worst = conditions.find((condition) => counts[condition] > 0) ?? 'fresh';
  const trouble = storeTroubleOf({ store, merchants }, now);
  /** @type {View} */
  const view = { merchants, counts, all, worst, trouble, now };
  const sentence = heldSentence(view) ?? lastCallSentence(view) ?? quietSentence(view) ?? worstSentence(view);
  const stopping = replica.shuttingDown ? { detail: 'This replica is shutting down.' } : {};
  const { condition = worst, ...said } = { ...none, detail: othersText(counts, worst), ...sentence, ...stopping };
  return { ...said, condition: calm.has(condition) ? (replica.shuttingDown ? 'failing' : 'fresh') : condition };
}

/**
 * What the store holds up comes before everything except failing payments.
 * @param {View} view
 * @returns {Sentence | undefined}
 */
function heldSentence({ merchants, all, worst, trouble, now }) {
  if (trouble === undefined || !bearable.has(worst)) return undefined;
  const { held, said } = trouble;
  const isCalm = calm.has(worst);
  if (held === undefined && !isCalm) return undefined;
  const text = held === undefined ? `${capital(said)}; ${goodText(all)}` : `${held}: ${said}`;
  const detail = troubleDetail(trouble, 'sessions');
  const also = merchants.find((one) => one.condition === 'watched')?.cause?.runbook;
  const ending = endText(merchants, all, now);
  return { condition: isCalm ? 'failing' : worst, text, ending, detail, runbook: STORE_DOWN, also };
}

/**
 * Sessions that end before the next attempt: only a person can keep their merchants going.
 * @param {View} view
 * @returns {Sentence | undefined}
 */
function lastCallSentence({ merchants, worst, now }) {
  if (!endsSoon.has(worst) && worst !== 'watched') return undefined;
  const ending = merchants
    .flatMap((merchant) =>
      endsUnrenewed(merchant, now) ? [{ ...merchant, leftMs: (merchant.session?.expiresAt ?? now) - now }] : [],
    )
    .sort((left, right) => left.leftMs - right.leftMs);
  const [first] = ending;
  if (first === undefined) return undefined;
  const alike = ending.filter((merchant) => takesPerson(merchant) === takesPerson(first));
  const sentence = takesPerson(first) ? fixSentence(first, alike.length) : renewSentence(first, alike.length);
  return { condition: 'unavailable', runbook: first.cause?.runbook ?? SESSION_EXPIRING, ...sentence };
}

/** @typedef {StatusMerchant & { readonly leftMs: number }} EndingMerchant */

/**
 * Until the cause is fixed, an attempt would fail like the last one, at the cost of a call.
 * @param {EndingMerchant} first
 * @param {number} count
 */
function fixSentence(first, count) {
  return {
    text:
      count === 1 ? `Payments of ${first.id} stop` : `Payments of ${count} merchants stop, those of ${first.id} first,`,
    ending: ` in ${durationText(first.leftMs)}`,
    because: becauseOf(first),
    detail: 'Fix that first (runbook); then renew by hand, since the next attempt comes after the session has ended.',
  };
}

/**
 * @param {EndingMerchant} first
 * @param {number} count
 */
function renewSentence(first, count) {
  const left = durationText(first.leftMs);
  const because = becauseOf(first);
  return {
    text:
      count === 1
        ? `Renew ${first.id} by hand: its session ends before the next attempt${because}`
        : `Renew ${count} merchants by hand: their sessions end before the next attempt; ${first.id}${because}`,
    ending: count === 1 ? `; it ends in ${left}` : `; its session ends in ${left}`,
    detail: renewCommand(first.id),
  };
}

/** @param {StatusMerchant} merchant */
function becauseOf({ cause, condition }) {
  if (cause === undefined) return '';
  return `: ${condition === 'watched' ? cause.text : (cause.inHeadline ?? cause.text)}`;
}

/**
 * A duel that has gone quiet is no all-clear: while nobody pays, nobody notices that the other side still creates.
 * @param {View} view
 * @returns {Sentence | undefined}
 */
function quietSentence({ merchants, worst, now }) {
  if (!calm.has(worst)) return undefined;
  const quiet = merchants.filter(({ quietSince }) => quietSince !== undefined);
  const [first] = quiet;
  if (first === undefined) return undefined;
  const whose = quiet.length === 1 ? first.id : `${quiet.length} merchants`;
  const since = Math.max(...quiet.map(({ quietSince }) => quietSince ?? 0));
  const [quietly, ending] = quietText('a dead one', now - since);
  const text = `Somebody else may still create sessions of ${whose}; ${quietly}`;
  return { condition: 'failing', text, ending, runbook: FOREIGN_AUTHORIZER };
}

/**
 * @param {View} view
 * @returns {Sentence}
 */
function worstSentence(view) {
  const { merchants, counts, all, worst, trouble, now } = view;
  if (worst === 'fresh' || worst === 'renewing') return { text: capital(goodText(all)) };
  const isComplete = merchants.length === all;
  // If not all are listed, they were counted when the document was made.
  const worse = merchants.filter((one) => (isComplete ? conditionAt(one, now) : one.condition) === worst);
  const causes = worse.flatMap(({ id, cause, ...merchant }) => {
    if (cause === undefined) return [];
    const by = worst === 'foreign_authorizer' ? '' : reportText(merchant);
    return [{ id, text: `${cause.inHeadline ?? cause.text}${by}`, runbook: cause.runbook }];
  });
  const count = counts[worst];
  const isOne = count === 1;
  const who = (isOne ? worse[0]?.id : undefined) ?? countText(count, 'merchant', 'merchants');
  const isCertain = worse.length === count && worse.every(isSurelyDead);
  const { because, below } = becauseTexts(worst, causes);
  const text = `${sentences[worst](who, isOne, isCertain)}${because}`;
  const told = trouble ? beside(trouble, view) : timesOf(worse, view);
  const [runbook, also] = runbooksFor(view, worse, causes[0]?.runbook);
  return { text, ...told, runbook, also, detail: `${below}${told.detail}`.trim() };
}

/**
 * Runbooks to follow, most urgent first: for the worst, the store, a foreign authorizer, another whose payments fail.
 * @param {View} view
 * @param {readonly StatusMerchant[]} worse those that are worst off
 * @param {string | undefined} ofCause
 */
function runbooksFor({ merchants, worst, trouble }, worse, ofCause) {
  const isByOthers = worse.some((one) => one.cause?.text.includes(FOREIGN_AUTHORIZER));
  const hurt = merchants.find(({ condition }) => condition !== worst && !bearable.has(condition));
  const named = [
    worst === 'foreign_authorizer' ? FOREIGN_AUTHORIZER : ofCause,
    trouble && STORE_DOWN,
    isByOthers ? FOREIGN_AUTHORIZER : undefined,
    hurt && runbookOf(hurt),
  ];
  return new Set(named.filter((one) => one !== undefined));
}

/** @param {StatusMerchant} merchant */
function runbookOf({ condition, cause }) {
  return condition === 'foreign_authorizer' ? FOREIGN_AUTHORIZER : cause?.runbook;
}

/**
 * Payments already fail with a dead session, so its end is not announced.
 * @param {StoreTrouble} trouble
 * @param {View} view
 */
function beside(trouble, { merchants, counts, all, worst, now }) {
  const areDead = dead.has(worst);
  const goOn = conditions.some((one) => bearable.has(one) && counts[one] > 0);
  const served = goOn ? `${bearable.has(worst) ? '' : 'the other '}sessions` : '';
  const why = troubleDetail(trouble, served, capital(trouble.said));
  const detail = `${why} ${othersText(counts, worst)}`.trim();
  return { ending: areDead ? '' : endText(merchants, all, now), detail };
}

/**
 * How long payments go on, and since when it has been so.
 * @param {readonly StatusMerchant[]} worse those that are worst off
 * @param {View} view
 * @returns {Pick<Headline, 'detail'> & Partial<Headline>}
 */
function timesOf(worse, { counts, worst, now }) {
  const others = othersText(counts, worst);
  const sessions = worse.flatMap(({ id, session }) => (session === undefined ? [] : [{ id, ...session }]));
  const [first] = sessions.toSorted((left, right) => left.expiresAt - right.expiresAt);
  const told = (/** @type {string} */ detail) => [detail, others].filter((text) => text !== '').join(' ');
  const isKnown = first !== undefined && worse.length === counts[worst];
  if (worst === 'unavailable') return { detail: isKnown ? told(`Since ${timeText(first.expiresAt, now)}.`) : others };
  if (!endsSoon.has(worst)) return { detail: others };
  // A merchant that is not listed may be the first.
  if (!isKnown) return { detail: told(GO_ON) };
  const left = durationText(first.expiresAt - now);
  const isOne = worse.length === 1;
  const dueAt = Math.min(...sessions.map(({ renewAt }) => renewAt));
  const due = dueAt > now ? '' : ` Due since ${timeText(dueAt, now)}.`;
  return {
    ending: isOne ? `; its session is good for another ${left}` : `; the session of ${first.id} ends first, in ${left}`,
    detail: told(`${isOne ? 'Until then payments go on.' : GO_ON}${due}`),
  };
}

/**
 * @param {StatusCondition} worst
 * @param {readonly (Matter & { readonly id: string })[]} causes of the merchants that are worst off, the worst first
 * @returns if they differ, that of one; if somebody else creates sessions, most or all of it goes below the headline
 */
function becauseTexts(worst, causes) {
  const [first] = causes.filter(({ text }) => text !== '');
  if (first === undefined) return { because: '', below: '' };
  const { id, text } = first;
  const isOne = causes.every((cause) => cause.text === text);
  const clauses = text.split('; ');
  const kept = worst === 'foreign_authorizer' ? 0 : worst === 'watched' ? 1 : clauses.length;
  const [head, rest] = [clauses.slice(0, kept), clauses.slice(kept)].map((some) => some.join('; '));
  const mark = isOne ? (worst === 'watched' ? '' : ':') : `; ${id}:`;
  return {
    because: head ? `${mark} ${head}` : '',
    below: rest ? `${isOne ? capital(rest) : `${id}: ${rest}`}. ` : '',
  };
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
 * @param {StatusCounts} counts
 * @param {StatusCondition} worst
 * @returns the rest, so that the worst does not hide it
 */
function othersText(counts, worst) {
  if (worst === 'renewing') return countsText(counts);
  const others = countsText({ ...counts, [worst]: 0 });
  return others === '' ? '' : `Others: ${others}`;
}

/** @param {StatusCounts} counts */
function countsText(counts) {
  const words = { ...conditionNames, unavailable: 'without a session', stale: 'past the margin' };
  return conditions
    .filter((condition) => counts[condition] > 0)
    .map((condition) => `${counts[condition].toLocaleString('en')} ${words[condition].toLowerCase()}`)
    .join(' · ');
}
