import type { Attempts } from './attempts.js';
import { BackOff } from './back-off.js';
import type { BrokerCall, BrokerHttp } from './broker-http.js';
import { Deadline } from './deadline.js';
import { BrokerUnavailable } from './errors.js';
import { brokerTimeMs, requestIdOf } from './problem.js';
import { readSession, type Session } from './session.js';
import type { SessionShelf } from './session-shelf.js';
import { SingleFlight } from './single-flight.js';
import type { Time } from './time.js';

export interface SessionReaderParts {
  readonly http: BrokerHttp;
  readonly shelf: SessionShelf;
  readonly attempts: Attempts;
  readonly time: Time;
  readonly random: () => number;
  readonly merchant: string;
  readonly closed: AbortSignal;
}

/** `Retry-After` can be minutes. Calls fail without asking the broker again for at most this long. */
const MAX_REFUSAL_MS = 5_000;
const REFRESH_TIMEOUT_MS = 8_000;
const REFRESH_PACE = { baseMs: 1_000, capMs: 15_000 };

interface Refusal {
  readonly error: BrokerUnavailable;
  readonly untilMs: number;
}

/** Plain reads: the first session, and those that the follower does not deliver. */
export class SessionReader {
  readonly #parts: SessionReaderParts;
  readonly #reads = new SingleFlight<number, Session>();
  readonly #refreshPace: BackOff;
  #refusal: Refusal | undefined;
  #refreshNotBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(parts: SessionReaderParts) {
    this.#parts = parts;
    this.#refreshPace = new BackOff({ ...REFRESH_PACE, random: parts.random });
  }

  /**
   * A session from the broker, or a newer one if that arrives another way first. Callers that ask for the same share
   * one request.
   * @param minRemainingMs what the broker is asked for; less is accepted if it has nothing better
   * @throws SessionBrokerError; CallAborted when the signal aborts
   */
  read(minRemainingMs: number, signal?: AbortSignal): Promise<Session> {
    return this.#reads.join(minRemainingMs, (shared) => this.#firstOf(minRemainingMs, shared), signal);
  }

  /** Looks for a newer session in the background, at a bounded pace; a failure changes nothing. */
  refresh(): void {
    const { time, shelf, closed } = this.#parts;
    if (time.monotonicMs() < this.#refreshNotBeforeMs) return;
    this.#refreshNotBeforeMs = Number.POSITIVE_INFINITY;
    const held = shelf.newest;
    const deadline = new Deadline(time, { ms: REFRESH_TIMEOUT_MS, parents: [closed], background: true });
    const rest = (): void => {
      deadline.close();
      if (shelf.newest > held) this.#refreshPace.reset();
      this.#refreshNotBeforeMs = time.monotonicMs() + this.#refreshPace.nextMs(REFRESH_PACE.baseMs);
    };
    const headers = { 'if-none-match': `"${held}"` };
    // Nobody waits for it: a failure becomes visible only to the next caller after the held session has ended.
    this.#ask({ path: '/session', headers, background: true, signal: deadline.signal }).then(rest, rest);
  }

  #firstOf(minRemainingMs: number, shared: AbortSignal): Promise<Session> {
    const { shelf, attempts } = this.#parts;
    return shelf.orArrival(
      (held) => shelf.remainingMs(held) >= minRemainingMs,
      (overtaken) => attempts.run((signal) => this.#once(minRemainingMs, signal), [shared, overtaken]),
    );
  }

  async #once(minRemainingMs: number, signal: AbortSignal): Promise<Session> {
    this.#demandNotRefused();
    const query = minRemainingMs > 0 ? `?minRemaining=${Math.ceil(minRemainingMs)}ms` : '';
    try {
      return await this.#ask({ path: `/session${query}`, headers: {}, signal });
    } catch (error) {
      if (error instanceof BrokerUnavailable) this.#noteRefusal(error);
      throw error;
    }
  }

  async #ask(call: BrokerCall): Promise<Session> {
    const { http, shelf, merchant } = this.#parts;
    const { answer, document } = await http.json(call);
    if (document !== undefined) {
      const arrival = { source: 'read', brokerTimeMs: brokerTimeMs(answer) } as const;
      if (shelf.offer(readSession(document, merchant), arrival)) this.#refusal = undefined;
    }
    const held = shelf.valid();
    if (held !== undefined) return held.session;
    // A replica lags behind, or this machine's clock is ahead: either this passes by itself, or a person has to know.
    throw new BrokerUnavailable('session_outdated', 'The broker gave a session that is past its expiry or replaced', {
      requestId: requestIdOf(answer),
    });
  }

  #noteRefusal(error: BrokerUnavailable): void {
    if (error.retryAfterMs === undefined) return;
    const lastsMs = Math.min(error.retryAfterMs, MAX_REFUSAL_MS);
    this.#refusal = { error, untilMs: this.#parts.time.monotonicMs() + lastsMs };
  }

  /** The broker has said when to come back; until then its answer is known. */
  #demandNotRefused(): void {
    if (this.#refusal === undefined) return;
    const leftMs = this.#refusal.untilMs - this.#parts.time.monotonicMs();
    if (leftMs <= 0) this.#refusal = undefined;
    else throw repeated(this.#refusal.error, leftMs);
  }
}

function repeated({ code, message, status, requestId }: BrokerUnavailable, retryAfterMs: number): BrokerUnavailable {
  return new BrokerUnavailable(code, message, { status, requestId, retryAfterMs });
}
