/** @import { StatusMerchant } from '../status-document.js' */
import { nameOf } from './condition.js';
import { element, setAttribute, setText } from './elements.js';
import { Remedy } from './remedy.js';
import { lastText, leftText, outlookText } from './wording.js';

/** The merchants. Each row is kept for as long as its merchant is listed, so that news does not unfocus it. */
export class MerchantRows {
  /** @type {HTMLElement} */
  #place;
  /** @type {Map<string, MerchantRow>} */
  #rows = new Map();

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#place = place;
  }

  /**
   * @param {readonly StatusMerchant[]} merchants in the order in which they are shown
   * @param {number} now
   */
  draw(merchants, now) {
    const focused = document.activeElement;
    const rows = new Map(merchants.map(({ id }) => [id, this.#rows.get(id) ?? new MerchantRow(id)]));
    for (const [id, row] of this.#rows) if (!rows.has(id)) row.element.remove();
    this.#rows = rows;
    merchants.forEach((merchant, index) => {
      const row = rows.get(merchant.id);
      const there = this.#place.children[index] ?? null;
      if (row !== undefined && there !== row.element) this.#place.insertBefore(row.element, there);
      row?.draw(merchant, now);
    });
    // An element loses the focus when it is moved.
    if (focused instanceof HTMLElement && this.#place.contains(focused)) focused.focus({ preventScroll: true });
  }
}

class MerchantRow {
  #condition = element('p', { class: 'condition' });
  #tags = element('span', { class: 'soft' });
  #left = element('strong');
  #outlook = element('span', { class: 'soft' });
  #last = element('p', { class: 'soft' });
  #remedy = new Remedy();

  /** @param {string} id of the merchant */
  constructor(id) {
    this.element = element('li', { class: 'row', 'data-merchant': id }, [
      element('div', { class: 'row-head' }, [
        this.#condition,
        element('h3', {}, [id, ' ', this.#tags]),
        element('p', {}, [this.#left, ' ', this.#outlook]),
        this.#last,
      ]),
      this.#remedy.element,
    ]);
  }

  /**
   * @param {StatusMerchant} merchant
   * @param {number} now by the replica's clock
   */
  draw(merchant, now) {
    const { condition, environment, required } = merchant;
    setAttribute(this.element, 'data-condition', condition);
    setText(this.#condition, nameOf(condition));
    setText(this.#tags, `${environment === 'test' ? 'test ' : ''}${required ? '' : 'optional'}`);
    setText(this.#left, leftText(merchant, now));
    setText(this.#outlook, outlookText(merchant, now));
    setText(this.#last, lastText(merchant, now));
    this.#remedy.draw(merchant);
  }
}
