/** @import { StatusCondition, StatusCounts } from '../status-document.js' */
import { conditions, nameOf } from './condition.js';
import { element, setAttribute, setText } from './elements.js';

/**
 * @typedef {object} Filter
 * @property {string} text a part of the id
 * @property {StatusCondition | undefined} condition
 */

/** Up to this many are seen at a glance. */
const FEW = 10;

/** A part of an id, a condition, or both. */
export class Filters {
  /** @type {Filter} */
  #filter = { text: '', condition: undefined };
  /** @type {Map<StatusCondition | undefined, { button: HTMLButtonElement, count: HTMLElement }>} */
  #buttons = new Map();
  #parts;

  /** @param {{ tools: HTMLElement, search: HTMLInputElement, buttons: HTMLElement, onChange: () => void }} parts */
  constructor(parts) {
    this.#parts = parts;
    const { search, buttons } = parts;
    search.addEventListener('input', () => this.#change({ text: search.value.trim() }));
    for (const condition of [undefined, ...conditions]) buttons.append(this.#buttonFor(condition));
  }

  get value() {
    return this.#filter;
  }

  /** @param {StatusCounts} counts */
  draw(counts) {
    const all = conditions.reduce((sum, condition) => sum + counts[condition], 0);
    const { text, condition: chosen } = this.#filter;
    this.#parts.tools.hidden = all <= FEW && text === '' && chosen === undefined;
    for (const [condition, { button, count }] of this.#buttons) {
      const number = condition === undefined ? all : counts[condition];
      setText(count, number.toLocaleString('en'));
      button.hidden = number === 0 && condition !== chosen;
      setAttribute(button, 'aria-pressed', String(condition === chosen));
    }
  }

  /** @param {StatusCondition | undefined} condition */
  #buttonFor(condition) {
    const count = element('span', { class: 'count' });
    const name = condition === undefined ? 'All' : nameOf(condition);
    const button = element('button', { type: 'button', 'data-condition': condition ?? 'all' }, [name, count]);
    button.addEventListener('click', () => this.#change({ condition }));
    this.#buttons.set(condition, { button, count });
    return button;
  }

  /** @param {Partial<Filter>} change */
  #change(change) {
    this.#filter = { ...this.#filter, ...change };
    this.#parts.onChange();
  }
}
