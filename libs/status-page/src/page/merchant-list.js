/** @import { StatusMerchant } from '../status-document.js' */
import { MerchantRow } from './merchant-row.js';

/** The rows, each kept for as long as its merchant is listed, so that news does not close or unfocus it. */
export class MerchantList {
  /** @type {HTMLElement} */
  #list;
  /** @type {Map<string, MerchantRow>} */
  #rows = new Map();

  /** @param {HTMLElement} list */
  constructor(list) {
    this.#list = list;
    list.addEventListener('keydown', (event) => this.#move(event));
  }

  /** @param {readonly StatusMerchant[]} merchants in the order in which they are shown */
  show(merchants) {
    const shown = new Set(merchants.map(({ id }) => id));
    for (const [id, row] of this.#rows) if (!shown.has(id)) this.#remove(id, row);
    const focused = document.activeElement;
    merchants.forEach((merchant, index) => this.#place(merchant, index));
    // An element loses the focus when it is moved.
    if (focused instanceof HTMLElement && this.#list.contains(focused) && document.activeElement !== focused) {
      focused.focus({ preventScroll: true });
    }
  }

  /** @param {number} now */
  draw(now) {
    for (const row of this.#rows.values()) row.draw(now);
  }

  /**
   * @param {StatusMerchant} merchant
   * @param {number} index
   */
  #place(merchant, index) {
    const row = this.#rows.get(merchant.id) ?? new MerchantRow(merchant);
    this.#rows.set(merchant.id, row);
    row.update(merchant);
    const there = this.#list.children[index];
    if (there !== row.element) this.#list.insertBefore(row.element, there ?? null);
  }

  /**
   * @param {string} id
   * @param {MerchantRow} row
   */
  #remove(id, row) {
    this.#rows.delete(id);
    row.element.remove();
  }

  /**
   * The arrow keys go from merchant to merchant: a hundred are too many for the Tab key. @param {KeyboardEvent} event
   */
  #move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...this.#list.querySelectorAll('button')].filter((button) =>
      button.classList.contains('row-name'),
    );
    const index = buttons.findIndex((button) => button === event.target);
    if (step === undefined || index < 0) return;
    event.preventDefault();
    buttons[index + step]?.focus();
  }
}
