/** @import { StatusDocument } from '../status-document.js' */
/** @import { Filter } from './filters.js' */
import { after } from './time.js';

const PERIOD_MS = 2_000;
const MAX_WAIT_MS = 5_000;

/**
 * @typedef {object} News
 * @property {StatusDocument} whole
 * @property {StatusDocument} found what the reader searches for
 */

/**
 * @typedef {object} FeedParts
 * @property {() => Promise<News | undefined>} load undefined if the replica cannot be reached
 * @property {(news: News | undefined) => void} onNews
 * @property {(delayMs: number, task: () => void) => () => void} after
 */

/** Keeps the page supplied with the state of the replica. */
export class Feed {
  /** @type {FeedParts} */
  #parts;
  #turn = 0;
  #callOff = () => {};

  /** @param {FeedParts} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /** Asks now, and from now on: to be called at the start, and when the reader searches for something else. */
  async ask() {
    const { load, onNews, after: wait } = this.#parts;
    this.#callOff();
    this.#turn += 1;
    const turn = this.#turn;
    const news = await load();
    if (turn !== this.#turn) return;
    this.#callOff = wait(PERIOD_MS, () => void this.ask());
    onNews(news);
  }
}

/**
 * @param {Filter} filter
 * @returns {Promise<News | undefined>}
 */
export async function load(filter) {
  const isAll = filter.text === '' && filter.condition === undefined;
  const [whole, found] = await Promise.all([ask(''), isAll ? undefined : ask(`?${queryOf(filter)}`)]);
  const shown = isAll ? whole : found;
  return whole && shown && { whole, found: shown };
}

/** @param {Filter} filter */
function queryOf({ text, condition }) {
  return new URLSearchParams({ search: text, condition: condition ?? '' });
}

/**
 * @param {string} query
 * @returns {Promise<StatusDocument | undefined>} undefined if there is no answer, or not one of the replica's
 */
async function ask(query) {
  const gone = new AbortController();
  const callOff = after(MAX_WAIT_MS, () => gone.abort());
  try {
    const response = await fetch(`status.json${query}`, { signal: gone.signal, cache: 'no-store' });
    return response.ok ? /** @type {StatusDocument} */ (await response.json()) : undefined;
  } catch {
    return undefined;
  } finally {
    callOff();
  }
}
