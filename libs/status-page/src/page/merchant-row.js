/** @import { StatusMerchant } from '../status-document.js' */
import { lifeAt, nameOf } from './condition.js';
import { element, glyph, setAttribute, setGlyph, setText } from './elements.js';
import { MerchantDetails } from './merchant-details.js';
import { Remedy } from './remedy.js';
import { Timeline } from './timeline.js';
import { leftText, outlookText } from './wording.js';

/** @type {import('./condition.js').Life} */
const NO_LIFE = { leftMs: 0, lifetimeMs: 0, left: 0, renew: 0, margin: 0 };

/** Redrawn every second, because time passes even without news. */
export class MerchantRow {
  /** @type {StatusMerchant} */
  #merchant;
  #glyph = glyph('fresh');
  #condition = element('span');
  #button = element('button', { type: 'button', class: 'row-name', 'aria-expanded': 'false' });
  #tags = element('span', { class: 'tags' });
  #left = element('span', { class: 'left' });
  #outlook = element('span', { class: 'outlook' });
  #fill = element('span', { class: 'fill' });
  #renewMark = element('span', { class: 'mark' });
  #marginMark = element('span', { class: 'mark' });
  #meter = element('div', { class: 'life', role: 'meter', 'aria-valuemin': '0' });
  #timeline = new Timeline();
  #details = new MerchantDetails();
  #remedy = new Remedy();

  /** @param {StatusMerchant} merchant */
  constructor(merchant) {
    this.#merchant = merchant;
    const { id } = merchant;
    const details = `details-${id}`;
    this.#button.append(id);
    this.#button.dataset['merchant'] = id;
    this.#button.setAttribute('aria-controls', details);
    this.#button.addEventListener('click', () => this.#toggle());
    this.#meter.setAttribute('aria-label', `Time left of the session of ${id}`);
    this.#meter.append(this.#fill, this.#renewMark, this.#marginMark);
    this.#details.element.id = details;
    this.element = element('li', { class: 'row' }, [
      element('div', { class: 'row-head' }, [
        element('p', { class: 'condition' }, [this.#glyph, this.#condition]),
        element('h3', {}, [this.#button, this.#tags]),
        element('div', { class: 'row-life' }, [
          element('p', { class: 'row-time' }, [this.#left, this.#outlook]),
          this.#meter,
        ]),
        this.#timeline.element,
        glyph('open'),
      ]),
      this.#remedy.element,
      this.#details.element,
    ]);
  }

  /** @param {StatusMerchant} merchant the latest news of it */
  update(merchant) {
    this.#merchant = merchant;
    setText(
      this.#tags,
      [merchant.environment === 'test' ? 'test' : '', merchant.required ? '' : 'optional'].join(' ').trim(),
    );
    this.#tags.hidden = this.#tags.textContent === '';
    this.#timeline.update(merchant.renewals);
  }

  /** @param {number} now by the replica's clock */
  draw(now) {
    const { condition } = this.#merchant;
    setAttribute(this.element, 'data-condition', condition);
    setGlyph(this.#glyph, condition);
    setText(this.#condition, nameOf(condition));
    setText(this.#outlook, outlookText(this.#merchant, now));
    this.#drawLife(now);
    this.#remedy.draw(this.#merchant);
    this.#timeline.draw(now);
    if (!this.#details.element.hidden) this.#details.draw(this.#merchant, now);
  }

  /** @param {number} now */
  #drawLife(now) {
    const life = lifeAt(this.#merchant, now);
    const { leftMs, lifetimeMs, left, renew, margin } = life ?? NO_LIFE;
    const text = leftText(this.#merchant, now);
    setText(this.#left, text);
    setAttribute(this.#meter, 'aria-valuemax', String(Math.round(lifetimeMs / 1_000)));
    setAttribute(this.#meter, 'aria-valuenow', String(Math.round(leftMs / 1_000)));
    setAttribute(this.#meter, 'aria-valuetext', text);
    this.#fill.style.transform = `scaleX(${left.toFixed(5)})`;
    this.#renewMark.style.left = `${renew * 100}%`;
    this.#marginMark.style.left = `${margin * 100}%`;
    this.#renewMark.hidden = this.#marginMark.hidden = life === undefined;
  }

  #toggle() {
    const { element: details } = this.#details;
    details.hidden = !details.hidden;
    this.#button.setAttribute('aria-expanded', String(!details.hidden));
    this.element.dispatchEvent(new CustomEvent('opened', { bubbles: true }));
  }
}
