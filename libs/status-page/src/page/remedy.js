/** @import { StatusMerchant } from '../status-document.js' */
import { conditionAt, endsUnrenewed, reported, takesPerson } from './condition.js';
import { element, setAttribute, setText } from './elements.js';
import { after } from './time.js';
import { capital, matterOf, renewCommand, runbookPath } from './wording.js';

/** Prints the bank's half of the comparison. */
const THUMBPRINT_COMMAND = 'session-broker keys thumbprint bank-has.jwk.json';

const TOLD_FOR_MS = 2_000;
/** A person would not be quicker. */
const SOON_MS = 5_000;

/**
 * One more attempt can help with these, once the cause is fixed. After an outage of the store, all but the reported
 * ones are renewed by themselves.
 * @type {ReadonlySet<string>}
 */
const renewable = new Set(['unavailable', 'stale', 'foreign_authorizer', 'reported_dead', 'likely_dead', 'failing']);

/** Shown with a merchant that is not well: what is wrong, the runbook, and what to type once it is fixed. */
export class Remedy {
  #cause = element('span', { class: 'cause' });
  #runbook = element('a');
  #ownKey = element('code');
  #keys = element('span', { class: 'keys' }, [
    'Thumbprint of our key: ',
    this.#ownKey,
    '. To print that of the key that the bank has: ',
    element('code', {}, [THUMBPRINT_COMMAND]),
  ]);
  #command = element('code');
  #copy = element('button', { type: 'button', class: 'copy' }, ['Copy']);
  #needs = element('a', { href: runbookPath('README') }, ['Where to run it']);
  #when = element('span');
  #renew = element('span', {}, [this.#when, ' ', this.#command, this.#copy, this.#needs]);

  /** @param {string} id of the merchant */
  constructor(id) {
    const command = renewCommand(id);
    this.#command.append(command);
    this.#command.id = `renew-${id}`;
    this.#copy.setAttribute('aria-describedby', this.#command.id);
    this.#copy.addEventListener('click', () => void this.#copied(command));
    this.element = element('p', { class: 'remedy' }, [this.#cause, ' ', this.#runbook, this.#keys, this.#renew]);
    this.element.hidden = true;
  }

  /**
   * @param {StatusMerchant} merchant
   * @param {number} now
   */
  draw(merchant, now) {
    const matter = matterOf(merchant, now);
    // If this replica lacks a key, its key file fixes that, and a new session does not.
    const canRenew =
      merchant.keys !== 'lacking' &&
      !onlyWaits(merchant, now) &&
      (merchant.renewalBlocked ? reported : renewable).has(conditionAt(merchant, now));
    this.element.hidden = matter === undefined && !canRenew;
    this.#runbook.hidden = matter === undefined;
    this.#renew.hidden = !canRenew;
    this.#keys.hidden = merchant.ownKey === undefined;
    setText(this.#ownKey, merchant.ownKey ?? '');
    setText(this.#when, whenText(merchant, now));
    setText(this.#cause, matter === undefined ? '' : `${capital(matter.text)}.`);
    if (matter === undefined) return;
    setText(this.#runbook, `Runbook: ${matter.runbook}`);
    setAttribute(this.#runbook, 'href', runbookPath(matter.runbook));
  }

  /** @param {string} command */
  async #copied(command) {
    setText(this.#copy, (await copy(command, this.#command)) ? 'Copied' : 'Selected');
    after(TOLD_FOR_MS, () => setText(this.#copy, 'Copy'));
  }
}

/**
 * If nothing has failed, there is nothing to fix: it is renewed by itself, now or as soon as a call is free.
 * @param {StatusMerchant} merchant
 * @param {number} now
 */
export function onlyWaits(merchant, now) {
  const { budgetSpent, renewing, failure, retryAt = now } = merchant;
  if (failure !== undefined || renewing) return failure === undefined;
  const isSoon = budgetSpent || retryAt - now < SOON_MS;
  return isSoon && ['unavailable', 'stale'].includes(conditionAt(merchant, now));
}

/**
 * @param {StatusMerchant} merchant
 * @param {number} now
 */
export function whenText(merchant, now) {
  if (endsUnrenewed(merchant, now) && !takesPerson(merchant)) return 'Before its session ends:';
  if (merchant.cause?.runbook === 'rejection-storm' && !merchant.renewalBlocked) return 'To replace it:';
  const when = conditionAt(merchant, now) === 'foreign_authorizer' ? 'When it is gone' : 'When it is fixed';
  return `${when}${merchant.renewalBlocked ? ' and the store works again' : ''}:`;
}

/**
 * Without HTTPS, only a page from localhost may write to the clipboard: elsewhere the text is selected instead.
 * @param {string} text
 * @param {Node} shown
 */
async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    document.getSelection()?.selectAllChildren(shown);
    return false;
  }
}
