/** @import { StatusCondition, StatusCounts } from '../status-document.js' */
import { conditions, nameOf } from './condition.js';
import { element, setText } from './elements.js';

/**
 * @typedef {object} Filter
 * @property {string} text a part of the id, in lower case
 * @property {StatusCondition | undefined} condition
 */

/** A part of an id, a condition, or both. */
export class Filters {
  /** @type {Filter} */
  #filter = { text: '', condition: undefined };
  /** @type {Map<StatusCondition | undefined, { button: HTMLButtonElement, count: HTMLElement }>} */
  #buttons = new Map();
  #onChange;

  /** @param {{ search: HTMLInputElement, buttons: HTMLElement, onChange: () => void }} parts */
  constructor({ search, buttons, onChange }) {
    this.#onChange = onChange;
    search.addEventListener('input', () => this.#change({ text: search.value.trim().toLowerCase() }));
    for (const condition of [undefined, ...conditions]) buttons.append(this.#buttonFor(condition));
  }

  get value() {
    return this.#filter;
  }

  get isEmpty() {
    return this.#filter.text === '' && this.#filter.condition === undefined;
  }

  /** @param {StatusCounts} counts */
  draw(counts) {
    const all = conditions.reduce((sum, condition) => sum + counts[condition], 0);
    for (const [condition, { button, count }] of this.#buttons) {
      const number = condition === undefined ? all : counts[condition];
      setText(count, number.toLocaleString('en'));
      button.dataset['empty'] = String(number === 0);
    }
  }

  /** @param {StatusCondition | undefined} condition */
  #buttonFor(condition) {
    const count = element('span', { class: 'count' }, ['0']);
    const pressed = String(condition === undefined);
    const button = element('button', { type: 'button', class: 'filter', 'aria-pressed': pressed }, [
      condition === undefined ? 'All' : nameOf(condition),
      count,
    ]);
    button.dataset['condition'] = condition ?? 'all';
    button.addEventListener('click', () => this.#change({ condition }));
    this.#buttons.set(condition, { button, count });
    return button;
  }

  /** @param {Partial<Filter>} change */
  #change(change) {
    this.#filter = { ...this.#filter, ...change };
    for (const [condition, { button }] of this.#buttons) {
      button.setAttribute('aria-pressed', String(condition === this.#filter.condition));
    }
    this.#onChange();
  }
}
