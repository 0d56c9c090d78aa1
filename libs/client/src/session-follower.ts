import { BackOff } from './attempts.js';
import { networkError } from './broker-http.js';
import { type HandoverNotice, readHandover } from './call-gate.js';
import { tell } from './client-event.js';
import type { ClientParts } from './client-parts.js';
import { orAborted, pause, within } from './deadline.js';
import { BrokerUnavailable, isLasting, placed, ProtocolError, SessionBrokerError } from './errors.js';
import { type BodyReader, discard, type FetchAnswer } from './fetch.js';
import { parseJsonObject } from './json.js';
import { readEndMs, readSession } from './session.js';
import { SseParser } from './sse-parser.js';

/** How long the headers of a stream may take. */
const ANSWER_TIMEOUT_MS = 10_000;
/** The broker sends a comment every 15 s: when two and a half of them have been missed, the other end is gone. */
const SILENCE_MS = 40_000;
/** A session takes about 600 characters. */
const MAX_EVENT_LENGTH = 65_536;
/** The first wait is of the length that the broker asks for. */
const PACE = { baseMs: 2_000, capMs: 30_000 };
/** What is refused now will still be refused in a second: a person has to change something. */
const REFUSED_WAIT_MS = 5_000;
/** A stream that is cut sooner does not start the waits anew. */
const HEALTHY_MS = 5_000;

/**
 * Keeps the shelf fresh in the background by the broker's events, from `follow` until the client is closed. Between two
 * streams it waits with full jitter. Where something in between lets no stream through, a session is replaced when the
 * gateway refuses it, or when it ends.
 */
export class SessionFollower {
  readonly #parts: ClientParts;
  readonly #onHandover: (notice: HandoverNotice) => void;
  readonly #backOff: BackOff;
  #running: Promise<void> | undefined;
  /** Whether the stream of this moment has been heard. */
  #isLive = false;
  /** The code of a lasting refusal that was already reported. */
  #refusal: string | undefined;

  /** @param onHandover called when a session is about to be replaced */
  constructor(parts: ClientParts, onHandover: (notice: HandoverNotice) => void) {
    this.#parts = parts;
    this.#onHandover = onHandover;
    this.#backOff = new BackOff({ ...PACE, random: parts.random });
  }

  follow(): void {
    this.#running ??= this.#run();
  }

  /** Resolves once following has ended, which it does when the client is closed. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const { closed, time } = this.#parts;
    while (!closed.aborted) {
      const startedAtMs = time.monotonicMs();
      const error: unknown = await this.#listen().catch((failure: unknown) => failure);
      if (closed.aborted) return;
      if (this.#isLive && time.monotonicMs() - startedAtMs >= HEALTHY_MS) this.#backOff.reset();
      const waitMs = this.#waitAfter(error);
      this.#interrupted(waitMs, error);
      // It rejects when the client is closed, which ends the loop.
      await pause(time, waitMs, { signal: closed, background: true }).catch(() => undefined);
    }
  }

  #waitAfter(error: unknown): number {
    if (isLasting(error)) return this.#backOff.nextMs(REFUSED_WAIT_MS);
    return this.#backOff.nextMs(error instanceof BrokerUnavailable ? error.retryAfterMs : 0);
  }

  #interrupted(waitMs: number, error: unknown): void {
    this.#isLive = false;
    const refusal = isLasting(error) ? error.code : undefined;
    if (refusal !== undefined && refusal === this.#refusal) return;
    this.#refusal = refusal;
    const told = error instanceof SessionBrokerError ? placed(error, this.#parts) : undefined;
    tell(this.#parts.onEvent, { type: 'interrupted', retryInMs: Math.ceil(waitMs), error: told });
  }

  /** A whole line arrived: the other end is alive. */
  #heard(): void {
    this.#refusal = undefined;
    if (this.#isLive) return;
    this.#isLive = true;
    tell(this.#parts.onEvent, { type: 'following' });
  }

  /**
   * Puts every session of the broker's events on the shelf, until their stream ends.
   * @throws SessionBrokerError when the stream cannot be opened, breaks, falls silent or makes no sense
   */
  async #listen(): Promise<void> {
    const { http, shelf, time, closed } = this.#parts;
    const headers: Record<string, string> = shelf.newest > 0 ? { 'last-event-id': String(shelf.newest) } : {};
    const path = '/session/events?handover=true';
    await within(time, { ms: ANSWER_TIMEOUT_MS, parents: [closed], background: true }, async (deadline) => {
      const { signal } = deadline;
      // An event may have waited unread, here or on its way, but hardly since before the stream was last heard.
      let heardAtMs = time.monotonicMs();
      const reader = eventReader(await http.open({ path, headers, signal }, 'text/event-stream'));
      const parser = new SseParser({ maxCharacters: MAX_EVENT_LENGTH });
      deadline.restart(SILENCE_MS);
      try {
        for (let lines = 0; ;) {
          const { done, value } = await orAborted(reader.read(), signal);
          if (done) return;
          const events = value === undefined ? [] : parser.push(value);
          // Whole lines count, not octets: a stream that trickles without ever ending a line delivers nothing.
          if (parser.lines > lines) {
            lines = parser.lines;
            deadline.restart(SILENCE_MS);
            this.#heard();
          }
          for (const { type, data } of events) this.#take(type, data, heardAtMs);
          heardAtMs = time.monotonicMs();
        }
      } catch (error) {
        discard(reader);
        throw networkError(error, signal);
      }
    });
  }

  #take(type: string, data: string, countedFromMs: number): void {
    const { shelf, merchant } = this.#parts;
    if (type === 'session') {
      const document = parseJsonObject(data);
      const arrival = { source: 'events', endsAtMs: readEndMs(document, countedFromMs) } as const;
      shelf.offer(readSession(document, merchant), arrival);
    }
    const notice = type === 'handover' ? readHandover(parseJsonObject(data)) : undefined;
    if (notice !== undefined) this.#onHandover(notice);
  }
}

function eventReader(answer: FetchAnswer): BodyReader {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && answer.body !== null) return answer.body.getReader();
  discard(answer.body);
  throw new ProtocolError('events_unsupported', 'The broker, or what is in front of it, gives no event stream');
}
