/** @import { StatusMerchant } from '../status-document.js' */
import { element, setAttribute, setText } from './elements.js';
import { capital, runbookPath } from './wording.js';

/** Shown with a merchant that is not well, as the replica says it: what is wrong, what to do, and the runbook. */
export class Remedy {
  #cause = element('span', { class: 'cause' });
  #remedy = element('span');
  #runbook = element('a');

  constructor() {
    this.element = element('p', { class: 'remedy' }, [this.#cause, ' ', this.#remedy, ' ', this.#runbook]);
    this.element.hidden = true;
  }

  /** @param {StatusMerchant} merchant */
  draw({ cause }) {
    this.element.hidden = cause === undefined;
    if (cause === undefined) return;
    setText(this.#cause, `${cause.text}.`);
    setText(this.#remedy, `${capital(cause.remedy)}.`);
    setText(this.#runbook, `Runbook: ${cause.runbook}`);
    setAttribute(this.#runbook, 'href', runbookPath(cause.runbook));
  }
}
