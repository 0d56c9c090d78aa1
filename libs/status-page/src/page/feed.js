/** @import { StatusDocument } from '../status-document.js' */

/** The replica sends something every five seconds: after this long without it, the connection counts as dead. */
const MAX_SILENCE_MS = 12_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 10_000;

/** @type {(text: string) => StatusDocument} written by the same replica that serves the page */
const parseDocument = JSON.parse;

/**
 * `live`: news comes as events. `asking`: no events (such as when every viewer slot is taken), so the page asks.
 * @typedef {'connecting' | 'live' | 'asking' | 'lost'} FeedState
 */

/**
 * @typedef {object} FeedParts
 * @property {(document: StatusDocument) => void} onDocument
 * @property {(state: FeedState) => void} onState
 * @property {() => EventSource} open
 * @property {() => Promise<StatusDocument | undefined>} load undefined if the replica cannot be reached
 * @property {(delayMs: number, task: () => void) => () => void} after
 */

/** Keeps the page supplied with the state of the replica. */
export class Feed {
  /** @type {FeedParts} */
  #parts;
  /** @type {EventSource | undefined} */
  #source;
  #pauseMs = FIRST_PAUSE_MS;
  #callOff = () => {};

  /** @param {FeedParts} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /** Asks for the first state, and gets the rest as events. */
  async start() {
    await this.#ask('connecting');
    this.#connect();
  }

  #connect() {
    const source = this.#parts.open();
    this.#source = source;
    this.#watch();
    source.addEventListener('status', (event) => {
      this.#watch();
      this.#pauseMs = FIRST_PAUSE_MS;
      this.#parts.onState('live');
      this.#parts.onDocument(parseDocument(String(event.data)));
    });
    source.addEventListener('error', () => void this.#reconnect());
  }

  /** A connection that has gone silent is as good as broken. */
  #watch() {
    this.#callOff();
    this.#callOff = this.#parts.after(MAX_SILENCE_MS, () => void this.#reconnect());
  }

  async #reconnect() {
    this.#callOff();
    this.#source?.close();
    await this.#ask('asking');
    this.#callOff = this.#parts.after(this.#pauseMs, () => this.#connect());
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2);
  }

  /** @param {FeedState} answered the state when the replica answers */
  async #ask(answered) {
    const document = await this.#parts.load();
    this.#parts.onState(document === undefined ? 'lost' : answered);
    if (document !== undefined) this.#parts.onDocument(document);
  }
}
