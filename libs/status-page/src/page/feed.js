/** @import { StatusDocument } from '../status-document.js' */

/** The replica says something every five seconds: after this long, the connection is dead although nobody says so. */
const MAX_SILENCE_MS = 12_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 10_000;

/** @type {(text: string) => StatusDocument} as the replica that the page comes from has written it */
const parseDocument = JSON.parse;

/**
 * `live`: told by events. `asking`: events are not to be had (every place for viewers is taken), so it is asked for.
 * @typedef {'connecting' | 'live' | 'asking' | 'lost'} FeedState
 */

/**
 * @typedef {object} FeedParts
 * @property {(document: StatusDocument) => void} onDocument
 * @property {(state: FeedState) => void} onState
 * @property {() => EventSource} open
 * @property {() => Promise<StatusDocument | undefined>} load undefined when the replica is not reached
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

  /** The first state comes with one question, and the rest as events. */
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
