/** @import { StatusDocument, StatusGateway, StatusReplica, StatusStore } from '../status-document.js' */
import { element, glyph, setAttribute, setGlyph, setText } from './elements.js';
import { agoText, countText, durationText, skewText, tookText } from './wording.js';

/**
 * @typedef {object} CardContent
 * @property {string} key
 * @property {string} kind
 * @property {string} title
 * @property {'fresh' | 'failing' | 'unavailable' | 'unknown'} condition
 * @property {string} state
 * @property {readonly (readonly [name: string, value: string])[]} facts
 */

/** Beyond this, the broker warns and judges expiry by the gateway's clock. */
const SKEW_TOLERANCE_MS = 2_000;
/** A timer that fires this late means that reads wait as well. */
const LAG_TOLERANCE_MS = 200;

/** The state of the store, of each gateway and of this replica. */
export class HealthCards {
  /** @type {HTMLElement} */
  #place;
  /** @type {Map<string, Card>} */
  #cards = new Map();

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#place = place;
  }

  /**
   * @param {StatusDocument} document
   * @param {number} now
   */
  draw(document, now) {
    const contents = contentsOf(document, now);
    const keys = new Set(contents.map(({ key }) => key));
    for (const [key, card] of this.#cards) {
      if (keys.has(key)) continue;
      card.element.remove();
      this.#cards.delete(key);
    }
    contents.forEach((content, index) => {
      const card = this.#cards.get(content.key) ?? new Card(content);
      this.#cards.set(content.key, card);
      card.draw(content);
      const there = this.#place.children[index];
      if (there !== card.element) this.#place.insertBefore(card.element, there ?? null);
    });
  }
}

class Card {
  #glyph = glyph('unknown');
  #state = element('p', { class: 'card-state' });
  #facts = element('dl');

  /** @param {CardContent} content */
  constructor({ kind, title }) {
    this.element = element('article', { class: 'card' }, [
      element('p', { class: 'card-kind' }, [kind]),
      element('h3', {}, [this.#glyph, element('span', {}, [title])]),
      this.#state,
      this.#facts,
    ]);
  }

  /** @param {CardContent} content */
  draw({ condition, state, facts }) {
    setAttribute(this.element, 'data-condition', condition);
    setGlyph(this.#glyph, condition);
    setText(this.#state, state);
    const names = [...this.#facts.querySelectorAll('dt')].map(({ textContent }) => textContent);
    if (names.join() !== facts.map(([name]) => name).join()) {
      this.#facts.replaceChildren(
        ...facts.map(([name]) => element('div', {}, [element('dt', {}, [name]), element('dd')])),
      );
    }
    const values = this.#facts.querySelectorAll('dd');
    for (const [index, [, value]] of facts.entries()) setText(values[index] ?? this.#facts, value);
  }
}

/**
 * @param {StatusDocument} document
 * @param {number} now
 * @returns {readonly CardContent[]}
 */
export function contentsOf({ replica, store, gateways, furtherGateways }, now) {
  return [
    storeContent(store, now),
    ...gateways.map((gateway) => gatewayContent(gateway, now)),
    ...(furtherGateways === 0 ? [] : [furtherContent(furtherGateways)]),
    replicaContent(replica, now),
  ];
}

/**
 * @param {StatusStore} store
 * @param {number} now
 * @returns {CardContent}
 */
function storeContent({ type, condition, since, reason, failing }, now) {
  const base = { key: 'store', kind: 'Store', title: type === 'redis' ? 'Redis' : 'Memory' };
  const facts = given([
    [
      condition === 'answers' ? 'Answering for' : 'Down for',
      since === undefined ? undefined : durationText(now - since),
    ],
    ['Reason', reason],
    ['Shared', type === 'redis' ? 'by all replicas' : 'no: for one replica only'],
    ['Failing', failing && `${failing.work}, ${agoText(now - failing.at)}`],
  ]);
  if (condition === undefined) return { ...base, facts, condition: 'unknown', state: 'Not connected yet' };
  if (condition === 'silent') return { ...base, facts, condition: 'unavailable', state: 'Does not answer' };
  if (condition === 'refuses') return { ...base, facts, condition: 'unavailable', state: 'Refuses' };
  if (failing !== undefined) return { ...base, facts, condition: 'failing', state: 'Operations fail' };
  return { ...base, facts, condition: 'fresh', state: type === 'memory' ? 'In this process' : 'Answers' };
}

/**
 * @param {(readonly [string, string | undefined])[]} facts
 * @returns {CardContent['facts']} those that have a value
 */
function given(facts) {
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [/** @type {const} */ ([name, value])]));
}

/** @type {Readonly<Record<StatusGateway['health'], Pick<CardContent, 'condition' | 'state'>>>} */
const gatewayStates = {
  answering: { condition: 'fresh', state: 'Answered' },
  refusing: { condition: 'failing', state: 'Answered, refuses' },
  untrusted: { condition: 'unavailable', state: 'Not trusted' },
  degraded: { condition: 'failing', state: 'Some calls failed' },
  down: { condition: 'unavailable', state: 'The last calls failed' },
  unknown: { condition: 'unknown', state: 'Not called lately' },
};

/**
 * @param {StatusGateway} gateway
 * @param {number} now
 * @returns {CardContent}
 */
function gatewayContent(gateway, now) {
  const { host, health, merchants, attempts, refused, medianMs, lastFailure, skewMs, ...answered } = gateway;
  const { answersSince } = answered;
  const skewed = skewMs !== undefined && Math.abs(skewMs) > SKEW_TOLERANCE_MS;
  const facts = given([
    ['Merchants', merchants.toLocaleString('en')],
    ['Last call', lastCallText(gateway, now)],
    ['Other replicas', othersText(gateway, now)],
    ['Answering for', answersSince === undefined ? undefined : durationText(now - answersSince)],
    ...callFacts(gateway),
    ['Typical call', medianMs === undefined ? undefined : tookText(medianMs)],
    ['Last failure', lastFailure && `${lastFailure.code ?? lastFailure.kind}, ${agoText(now - lastFailure.at)}`],
    ['Clock', skewMs === undefined ? undefined : `${skewText(skewMs)}${skewed ? ', too far off' : ''}`],
  ]);
  const { condition, state } = gatewayState(gateway, skewed);
  const refusesAll = health === 'refusing' && refused === attempts;
  return {
    key: `gateway ${host}`,
    kind: 'Gateway',
    title: host,
    condition: refusesAll ? 'unavailable' : condition,
    state,
    facts,
  };
}

/**
 * @param {StatusGateway} gateway
 * @param {boolean} skewed
 * @returns {Pick<CardContent, 'condition' | 'state'>}
 */
function gatewayState({ health, answersSince }, skewed) {
  if (health === 'degraded' && answersSince !== undefined) return { condition: 'failing', state: 'Answered again' };
  if (health === 'answering' && skewed) return { condition: 'failing', state: 'Answered, its clock is off' };
  return gatewayStates[health];
}

/**
 * @param {StatusGateway} gateway
 * @param {number} now
 * @returns {string | undefined} undefined before the first call
 */
function lastCallText({ lastAnswerAt, lastFailure }, now) {
  if (lastFailure !== undefined && (lastAnswerAt === undefined || lastFailure.at > lastAnswerAt))
    return `failed, ${agoText(now - lastFailure.at)}`;
  if (lastAnswerAt === undefined) return undefined;
  const isRefused = lastFailure?.at === lastAnswerAt && ['refused', 'revoked'].includes(lastFailure.kind);
  return `${isRefused ? 'refused' : 'answered'}, ${agoText(now - lastAnswerAt)}`;
}

/**
 * A failure that is still current comes before an answer.
 * @param {StatusGateway} gateway
 * @param {number} now
 */
function othersText({ answeredOthersAt, othersFailure }, now) {
  if (othersFailure === undefined)
    return answeredOthersAt === undefined ? undefined : `answered, ${agoText(now - answeredOthersAt)}`;
  const { at, kind, code } = othersFailure;
  return `${kind}${code ? ` (${code})` : ''}, ${agoText(now - at)}`;
}

/**
 * "Failed 0 of 15 calls" for a bank that refuses all of them would be true, but read as if all were well.
 * @param {StatusGateway} gateway
 * @returns {(readonly [string, string | undefined])[]}
 */
function callFacts({ attempts, failed, refused, answersSince }) {
  if (attempts === 0) return [];
  const of = (/** @type {number} */ count) => `${count} of ${countText(attempts, 'call', 'calls')}`;
  return [
    ['Refused', refused === 0 ? undefined : of(refused)],
    [answersSince === undefined ? 'Failed' : 'Failed before', failed === 0 && refused > 0 ? undefined : of(failed)],
  ];
}

/**
 * @param {number} count
 * @returns {CardContent}
 */
function furtherContent(count) {
  const state = 'Not listed: the listed ones are worse off';
  return {
    key: 'further',
    kind: 'Gateways',
    title: `${count.toLocaleString('en')} more`,
    condition: 'unknown',
    state,
    facts: [],
  };
}

/**
 * @param {StatusReplica} replica
 * @param {number} now
 * @returns {CardContent}
 */
function replicaContent({ name, ready, storeReached, shuttingDown, startedAt, eventLoopLagMs, ...rest }, now) {
  const { watchers, viewers, residentBytes, version } = rest;
  const lags = eventLoopLagMs.worst > LAG_TOLERANCE_MS;
  const missing = storeReached ? 'a required merchant has no session' : 'the store has not answered yet';
  const readyState = ready ? `Ready${lags ? ', but its event loop was late' : ''}` : `Not ready: ${missing}`;
  return {
    key: 'replica',
    kind: 'This replica',
    title: name,
    condition: !ready || shuttingDown ? 'unavailable' : lags ? 'failing' : 'fresh',
    state: shuttingDown ? 'Shutting down' : readyState,
    facts: [
      ['Version', version],
      ['Up for', durationText(now - startedAt)],
      ['Event loop', `${eventLoopLagMs.latest} ms, at worst ${eventLoopLagMs.worst} ms late`],
      ['Memory', `${Math.round(residentBytes / 2 ** 20)} MiB`],
      ['Watchers', `${countText(watchers, 'consumer', 'consumers')}, ${countText(viewers, 'page', 'pages')}`],
    ],
  };
}
