/** @import { StatusCause, StatusCondition, StatusCounts, StatusDocument, StatusMerchant } from '../status-document.js' */
import { conditions } from './condition.js';
import { countText, roughlyText } from './wording.js';

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
    `Payments fail: somebody else ends the sessions of ${countText(count, 'merchant', 'merchants')} by creating others`,
  reported_dead: (count) => `Payments of ${countText(count, 'merchant', 'merchants')} may fail`,
  held_back: (count) => countText(count, 'renewal is due and not made', 'renewals are due and not made'),
  failing: (count) => countText(count, 'renewal fails', 'renewals fail'),
  renewing: (_count, all) => sentences.fresh(all, all),
  fresh: (count) => (count === 1 ? 'The session is good' : `All ${count.toLocaleString('en')} sessions are good`),
};

/** Where a store that is away is dealt with. */
const STORE_DOWN = 'store-down';

/**
 * The state of everything in one sentence: the worst of it, and what is the cause.
 * @param {Pick<StatusDocument, 'store' | 'replica' | 'merchants'>} document
 * @param {StatusCounts} counts
 * @param {number} now
 * @returns {Headline}
 */
export function headlineOf({ store, replica, merchants }, counts, now) {
  const all = conditions.reduce((sum, condition) => sum + counts[condition], 0);
  if (all === 0) return { condition: 'renewing', text: 'No merchant is configured', detail: '', runbook: undefined };
  const worst = conditions.find((condition) => counts[condition] > 0) ?? 'fresh';
  const causes = merchants.flatMap(({ id, condition, cause }) =>
    condition === worst && cause !== undefined ? [{ id, ...cause }] : [],
  );
  const text =
    worst === 'failing' && all === 1 ? notRenewedText(merchants[0], now) : worstText(worst, causes, { counts, all });
  const calm = worst === 'fresh' || worst === 'renewing';
  const trouble = storeTrouble(store, {
    hasSessions: counts.unavailable < all,
    blocked: blockedText(merchants, all, now),
  });
  const detail = replica.shuttingDown ? 'This replica is shutting down.' : trouble;
  const link = linkOf(causes, trouble);
  if (detail !== undefined) return { condition: calm ? 'failing' : worst, text, detail, runbook: link };
  return { condition: calm ? 'fresh' : worst, text, detail: othersText(counts, worst), runbook: link };
}

/**
 * @param {StatusCondition} worst
 * @param {readonly (StatusCause & { readonly id: string })[]} causes
 * @param {{ readonly counts: StatusCounts, readonly all: number }} of
 */
function worstText(worst, causes, { counts, all }) {
  return `${sentences[worst](counts[worst], all)}${becauseText(worst, causes)}${stillText(worst)}`;
}

/**
 * @param {StatusCondition} worst
 * @param {readonly (StatusCause & { readonly id: string })[]} causes of the merchants that are worst off, the worst first
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
 * @param {readonly StatusCause[]} causes
 * @param {string | undefined} trouble of the store
 */
function linkOf([first], trouble) {
  return first?.runbook ?? (trouble === undefined ? undefined : STORE_DOWN);
}

/**
 * @param {StatusMerchant | undefined} merchant the only one; the news may count what it does not list
 * @param {number} now
 */
function notRenewedText(merchant, now) {
  if (merchant === undefined) return '1 renewal fails; the session is still good';
  const { id, cause, session } = merchant;
  const good = session === undefined ? '' : `; its session is good for another ${roughlyText(session.expiresAt - now)}`;
  return `${id} is not renewed${cause === undefined ? '' : `: ${cause.text}`}${good}`;
}

/**
 * @param {StatusDocument['store']} store
 * @param {{ readonly hasSessions: boolean, readonly blocked: string | undefined }} effects
 * @returns {string | undefined}
 */
function storeTrouble({ condition, reason = 'no reason given' }, { hasSessions, blocked }) {
  if (condition !== 'silent' && condition !== 'refuses') return undefined;
  const served = hasSessions ? ['sessions are served from memory'] : [];
  const said = condition === 'silent' ? 'The store does not answer' : 'The store refuses';
  const effects = [...served, ...(blocked === undefined ? [] : [blocked])].join(', and ');
  return `${said} (${reason})${effects === '' ? '' : `: ${effects}`}.`;
}

/**
 * Nobody is told of an end while there may be an earlier one among those that are not listed.
 * @param {readonly StatusMerchant[]} merchants
 * @param {number} all how many there are
 * @param {number} now
 * @returns {string | undefined} undefined while there is nobody whose renewals the store holds up
 */
function blockedText(merchants, all, now) {
  const blocked = merchants.filter(({ renewalBlocked }) => renewalBlocked);
  if (blocked.length === 0) return undefined;
  const nothing = blocked.length === merchants.length ? 'nothing is renewed' : 'some are not renewed';
  const ends = blocked.flatMap(({ id, session }) =>
    session === undefined || session.expiresAt <= now ? [] : [{ id, at: session.expiresAt }],
  );
  const [first] = ends.sort((left, right) => left.at - right.at);
  if (first === undefined || merchants.length < all) return nothing;
  return `${nothing}; the session of ${first.id} ends in ${roughlyText(first.at - now)}`;
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
