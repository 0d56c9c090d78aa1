/** @import { StatusMerchant, StatusRenewal } from '../status-document.js' */
import { element, setText } from './elements.js';
import { toneOf } from './timeline.js';
import { agoText, clockText, durationText, outcomeNames, timeText, tookText } from './wording.js';

const NONE = '–';

/** What a row shows when it is opened: the session's times, and the merchant's renewals as a table. */
export class MerchantDetails {
  #facts = element('dl', { class: 'facts' });
  #body = element('tbody');
  /** @type {StatusMerchant | undefined} */
  #drawn;

  constructor() {
    const heads = ['Time (UTC)', 'Trigger', 'Outcome', 'Call took'].map((name) =>
      element('th', { scope: 'col' }, [name]),
    );
    const table = element('table', {}, [
      element('caption', {}, ['Last renewals seen by this replica, newest first']),
      element('thead', {}, [element('tr', {}, heads)]),
      this.#body,
    ]);
    this.element = element('div', { class: 'details' }, [this.#facts, table]);
    this.element.hidden = true;
  }

  /**
   * @param {StatusMerchant} merchant
   * @param {number} now
   */
  draw(merchant, now) {
    this.#drawFacts(merchant, now);
    if (this.#drawn !== merchant) this.#body.replaceChildren(...merchant.renewals.toReversed().map(recordOf));
    this.#drawn = merchant;
  }

  /**
   * @param {StatusMerchant} merchant
   * @param {number} now
   */
  #drawFacts({ session, reason, retryAt, failure }, now) {
    /** @param {number | undefined} at */
    const moment = (at) => {
      if (at === undefined) return NONE;
      return `${timeText(at, now)} (${at > now ? `in ${durationText(at - now)}` : agoText(now - at)})`;
    };
    const failed =
      failure === undefined
        ? NONE
        : `${[failure.kind, failure.code].filter(Boolean).join(' · ')}, ${moment(failure.at)}`;
    const facts = {
      Generation: session === undefined ? NONE : String(session.generation),
      Served: reason.replaceAll('_', ' '),
      Created: moment(session?.createdAt),
      'Renewed from': moment(session?.renewAt),
      'Fresh until': moment(session?.mustRenewAt),
      Expires: moment(session?.expiresAt),
      'Last failure': failed,
      'Next attempt': retryAt !== undefined && retryAt > now ? moment(retryAt) : NONE,
    };
    if (this.#facts.childElementCount === 0) this.#facts.append(...Object.keys(facts).map(factOf));
    const values = this.#facts.querySelectorAll('dd');
    for (const [index, text] of Object.values(facts).entries()) setText(values[index] ?? this.#facts, text);
  }
}

/** @param {string} name */
function factOf(name) {
  return element('div', {}, [element('dt', {}, [name]), element('dd')]);
}

/** @param {StatusRenewal} renewal */
function recordOf(renewal) {
  const own = renewal.outcome === 'adopted' ? undefined : renewal;
  const time = element('time', { datetime: new Date(renewal.at).toISOString() }, [clockText(renewal.at)]);
  const outcome = [outcomeNames[renewal.outcome], own?.code].filter(Boolean).join(' · ');
  return element('tr', { 'data-outcome': toneOf(renewal.outcome) }, [
    element('td', {}, [time]),
    element('td', {}, [own?.trigger ?? NONE]),
    element('td', {}, [outcome]),
    element('td', {}, [own === undefined ? NONE : tookText(own.callMs)]),
  ]);
}
