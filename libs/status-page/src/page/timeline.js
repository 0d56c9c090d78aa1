/** @import { StatusRenewal } from '../status-document.js' */
import { element, setText } from './elements.js';
import { clockText, countText, outcomeNames, renewalText, tookText } from './wording.js';

/** A call of this length gets the tallest tick; the scale is logarithmic, so that usual calls differ. */
const TALLEST_MS = 5_000;
const MIN_HEIGHT = 0.35;

/** As many as the replica remembers. */
const SLOTS = 12;

/** The last renewals of a merchant as ticks, the newest on the right, and the newest in words. */
export class Timeline {
  #ticks = element('div', { class: 'ticks', role: 'img' });
  #last = element('p', { class: 'last' });
  /** @type {readonly StatusRenewal[]} */
  #renewals = [];
  #shown = '';

  constructor() {
    this.element = element('div', { class: 'timeline' }, [this.#ticks, this.#last]);
  }

  /** @param {readonly StatusRenewal[]} renewals the oldest first */
  update(renewals) {
    this.#renewals = renewals;
    const shown = JSON.stringify(renewals);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const empty = Array.from({ length: SLOTS - renewals.length }, () => element('span', { class: 'tick' }));
    this.#ticks.replaceChildren(...empty, ...renewals.map(tickOf));
    this.#ticks.setAttribute('aria-label', summaryOf(renewals));
  }

  /** @param {number} now */
  draw(now) {
    const last = this.#renewals.at(-1);
    setText(this.#last, last === undefined ? 'no renewal seen yet' : renewalText(last, now));
  }
}

/** @param {StatusRenewal} renewal */
function tickOf(renewal) {
  const tick = element('span', { class: 'tick', 'data-outcome': toneOf(renewal.outcome), title: titleOf(renewal) });
  tick.style.height = `${Math.round(heightOf(renewal) * 100)}%`;
  return tick;
}

/** @param {StatusRenewal} renewal */
function heightOf(renewal) {
  if (renewal.outcome === 'adopted') return MIN_HEIGHT;
  if (toneOf(renewal.outcome) === 'failed') return 1;
  const share = Math.log10(1 + renewal.callMs) / Math.log10(1 + TALLEST_MS);
  return Math.min(1, Math.max(MIN_HEIGHT, share));
}

/** @param {StatusRenewal['outcome']} outcome */
export function toneOf(outcome) {
  if (outcome === 'success') return 'done';
  return outcome === 'adopted' ? 'adopted' : 'failed';
}

/** @param {StatusRenewal} renewal */
function titleOf(renewal) {
  const took = renewal.outcome === 'adopted' ? '' : `, ${renewal.trigger}, ${tookText(renewal.callMs)}`;
  return `${clockText(renewal.at)} UTC: ${outcomeNames[renewal.outcome]}${took}`;
}

/** @param {readonly StatusRenewal[]} renewals */
function summaryOf(renewals) {
  const failed = renewals.filter(({ outcome }) => toneOf(outcome) === 'failed').length;
  if (renewals.length === 0) return 'No renewal seen yet';
  return `${countText(renewals.length, 'renewal', 'renewals')} in memory, ${failed === 0 ? 'none' : failed} failed`;
}
