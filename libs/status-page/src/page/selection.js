/** @import { StatusDocument, StatusMerchant } from '../status-document.js' */
/** @import { Filter } from './filters.js' */

/** A search that the replica has to answer is repeated when news comes, but not more often than this. */
const MIN_PAUSE_MS = 2_000;
const TYPING_PAUSE_MS = 150;

/**
 * @typedef {object} SelectionParts
 * @property {(filter: Filter) => Promise<StatusDocument | undefined>} load undefined if the replica cannot be reached
 * @property {() => void} onAnswer
 * @property {(delayMs: number, task: () => void) => () => void} after
 * @property {() => number} monotonicMs
 */

/**
 * @typedef {object} Selected
 * @property {readonly StatusMerchant[]} merchants
 * @property {number} matching how many there are, listed or not
 */

/**
 * The merchants that the reader wants to see. If the news lists every merchant, they are found in it; otherwise the
 * replica is asked.
 */
export class Selection {
  /** @type {SelectionParts} */
  #parts;
  /** @type {{ key: string, document: StatusDocument } | undefined} */
  #answer;
  /** @type {string | undefined} */
  #asked;
  #askedAtMs = -Infinity;
  #callOff = () => {};

  /** @param {SelectionParts} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * @param {StatusDocument} document
   * @param {Filter} filter
   * @returns {Selected | undefined} undefined while the replica is being asked for the first time
   */
  of(document, filter) {
    if (document.matching === document.merchants.length) {
      const merchants = document.merchants.filter((merchant) => matches(merchant, filter));
      return { merchants, matching: merchants.length };
    }
    if (filter.text === '' && filter.condition === undefined) return document;
    return this.#answer?.key === keyOf(filter) ? this.#answer.document : undefined;
  }

  /**
   * To be called when the filter has changed, and whenever news comes.
   * @param {StatusDocument} document
   * @param {Filter} filter
   */
  refresh(document, filter) {
    if (document.matching === document.merchants.length) return;
    const key = keyOf(filter);
    if (key === keyOf({ text: '', condition: undefined })) return;
    const isNew = key !== this.#asked;
    if (!isNew && this.#parts.monotonicMs() - this.#askedAtMs < MIN_PAUSE_MS) return;
    this.#asked = key;
    this.#askedAtMs = this.#parts.monotonicMs();
    this.#callOff();
    this.#callOff = this.#parts.after(isNew ? TYPING_PAUSE_MS : 0, () => void this.#ask(key, filter));
  }

  /**
   * @param {string} key
   * @param {Filter} filter
   */
  async #ask(key, filter) {
    const document = await this.#parts.load(filter);
    // The feed reports a lost connection, and the replica is asked again when the next news comes.
    if (document === undefined || key !== this.#asked) return;
    this.#answer = { key, document };
    this.#parts.onAnswer();
  }
}

/** @param {Filter} filter */
function keyOf({ text, condition }) {
  return `${condition ?? ''} ${text}`;
}

/**
 * @param {StatusMerchant} merchant
 * @param {Filter} filter
 */
function matches(merchant, { text, condition }) {
  return merchant.id.includes(text) && (condition === undefined || merchant.condition === condition);
}
