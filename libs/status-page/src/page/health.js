/** @import { StatusDocument, StatusGateway, StatusReplica, StatusStore } from '../status-document.js' */
import { element } from './elements.js';
import { capital, skewText, timeText } from './wording.js';

/**
 * @typedef {object} CardContent
 * @property {string} kind
 * @property {string} title
 * @property {'fresh' | 'failing' | 'unavailable' | 'unknown'} condition
 * @property {string} state
 * @property {readonly (readonly [name: string, value: string | undefined])[]} facts those without a value are left out
 */

/** Beyond this, the broker warns and judges expiry by the gateway's clock. */
const SKEW_TOLERANCE_MS = 2_000;

/**
 * The state of the store, of each gateway and of this replica. Moments stand still, so a card changes only with news.
 * @param {HTMLElement} place
 * @param {StatusDocument} document
 */
export function drawHealth(place, document) {
  const cards = contentsOf(document).map(cardOf);
  const isNews = cards.some((card, index) => !card.isEqualNode(place.children[index] ?? null));
  if (isNews || cards.length !== place.childElementCount) place.replaceChildren(...cards);
}

/** @param {CardContent} content */
function cardOf({ kind, title, condition, state, facts }) {
  const shown = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [element('div', {}, [element('dt', {}, [name]), element('dd', {}, [value])])],
  );
  return element('article', { class: 'card', 'data-condition': condition }, [
    element('p', { class: 'soft' }, [kind]),
    element('h3', {}, [title]),
    element('p', { class: 'condition' }, [state]),
    element('dl', {}, shown),
  ]);
}

/**
 * @param {StatusDocument} document
 * @returns {readonly CardContent[]}
 */
export function contentsOf({ replica, store, gateways, at }) {
  return [
    storeContent(store, at),
    ...gateways.map((gateway) => gatewayContent(gateway, at)),
    replicaContent(replica, at),
  ];
}

/** @type {(at: number | undefined, now: number) => string | undefined} */
const when = (at, now) => (at === undefined ? undefined : timeText(at, now));

/**
 * @param {StatusStore} store
 * @param {number} now
 * @returns {CardContent}
 */
function storeContent({ type, condition, since, reason, failing }, now) {
  const base = { kind: 'Store', title: type === 'redis' ? 'Redis' : 'Memory' };
  /** @type {CardContent['facts']} */
  const facts = [
    [condition === 'answers' ? 'Answers since' : 'Down since', when(since, now)],
    ['Reason', reason],
    ['Failing', failing && `${failing.work}, ${timeText(failing.at, now)}`],
  ];
  if (condition === undefined) return { ...base, facts, condition: 'unknown', state: 'Not connected yet' };
  if (condition === 'silent') return { ...base, facts, condition: 'unavailable', state: 'Does not answer' };
  if (condition === 'refuses') return { ...base, facts, condition: 'unavailable', state: 'Refuses' };
  if (failing !== undefined) return { ...base, facts, condition: 'failing', state: 'Operations fail' };
  return { ...base, facts, condition: 'fresh', state: type === 'memory' ? 'In this process' : 'Answers' };
}

/** @type {Readonly<Record<StatusGateway['health'], Pick<CardContent, 'condition' | 'state'>>>} */
const gatewayStates = {
  answering: { condition: 'fresh', state: 'Answered' },
  refusing: { condition: 'failing', state: 'Answered, refuses' },
  untrusted: { condition: 'unavailable', state: 'Not trusted' },
  failing: { condition: 'failing', state: 'The last calls failed' },
  unknown: { condition: 'unknown', state: 'Not called yet' },
};

/**
 * @param {StatusGateway} gateway
 * @param {number} now
 * @returns {CardContent}
 */
function gatewayContent({ host, merchants, health, failing, lastAnswerAt, lastFailure, skewMs }, now) {
  const isOff = skewMs !== undefined && Math.abs(skewMs) > SKEW_TOLERANCE_MS;
  const isAllThatIsWrong = health === 'answering' && isOff;
  const of = failing === 0 ? '' : `, ${failing.toLocaleString('en')} failing`;
  return {
    kind: 'Gateway',
    title: host,
    ...gatewayStates[health],
    ...(isAllThatIsWrong ? { condition: 'failing', state: 'Answered, its clock is off' } : {}),
    facts: [
      ['Merchants', `${merchants.toLocaleString('en')}${of}`],
      ['Last answer', when(lastAnswerAt, now)],
      ['Last failure', lastFailure && `${lastFailure.code ?? lastFailure.kind}, ${timeText(lastFailure.at, now)}`],
      ['Clock', skewMs === undefined ? undefined : `${skewText(skewMs)}${isOff ? ', too far off' : ''}`],
    ],
  };
}

/**
 * @param {StatusReplica} replica
 * @param {number} now
 * @returns {CardContent}
 */
function replicaContent({ name, ready, storeReached, shuttingDown, startedAt }, now) {
  const missing = storeReached ? 'a required merchant has no session' : 'the store has not answered yet';
  const readyState = ready ? 'Ready' : `Not ready: ${missing}`;
  return {
    kind: 'This replica',
    title: name,
    condition: !ready || shuttingDown ? 'unavailable' : 'fresh',
    state: shuttingDown ? 'Shutting down' : readyState,
    facts: [['Up since', timeText(startedAt, now)]],
  };
}

/**
 * What became of changed files, if a person still has something to do.
 * @param {Pick<StatusReplica, 'refusedChange' | 'awaitingRestart' | 'awaitingSince' | 'restartAdvice'>} replica
 * @param {number} now
 * @returns {{ readonly text: string, readonly runbook: string } | undefined} undefined while the files match what is in
 *   force
 */
export function configurationNotice({ refusedChange, awaitingRestart = [], awaitingSince, restartAdvice }, now) {
  const sentences = [];
  if (refusedChange !== undefined) {
    const since = timeText(refusedChange.since, now);
    sentences.push(
      `Configuration: a change has been refused since ${since} (${refusedChange.text}); the previous configuration is in force.`,
    );
  }
  if (restartAdvice !== undefined) {
    const at = awaitingSince === undefined ? '' : ` at ${timeText(awaitingSince, now)}`;
    const settings = awaitingRestart.join(', ');
    const advice = capital(restartAdvice.text);
    sentences.push(`Configuration: changed${at}, to take effect with the next start: ${settings}. ${advice}.`);
  }
  if (sentences.length === 0) return undefined;
  return {
    text: sentences.join('\n'),
    runbook: (refusedChange === undefined ? restartAdvice?.runbook : undefined) ?? 'config-reload-failed',
  };
}
