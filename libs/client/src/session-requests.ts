import { BackOff } from './attempts.js';
import type { BrokerCall } from './broker-http.js';
import type { ClientParts } from './client-parts.js';
import { orAborted, within } from './deadline.js';
import { BrokerUnavailable, Forbidden, ProtocolError, type Rejection } from './errors.js';
import { DEAD } from './payment-outcome.js';
import { requestIdOf } from './problem.js';
import { readLeft, readSession, type Session } from './session.js';

/** `Retry-After` can be minutes. Calls fail without asking the broker again for at most this long. */
const MAX_REFUSAL_MS = 5_000;
/** For this long after no newer one came, the gateway is not asked again about a session that it called dead. */
const DEAD_FOR_MS = 10_000;
const REFRESH_TIMEOUT_MS = 8_000;
const REFRESH_PACE = { baseMs: 1_000, capMs: 15_000 };

/** Asks for the sessions that the follower does not deliver: the first, an overdue one, and those for rejected ones. */
export class SessionRequests {
  readonly #parts: ClientParts;
  readonly #reads = new SingleFlight<number, Session>();
  readonly #reports = new SingleFlight<number, Session>();
  readonly #refreshPace: BackOff;
  #refusal: { readonly error: BrokerUnavailable; readonly untilMs: number } | undefined;
  #dead: { readonly rejection: Rejection; readonly untilMs: number } | undefined;
  #refreshNotBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.#refreshPace = new BackOff({ ...REFRESH_PACE, random: parts.random });
  }

  /**
   * A session from the broker, or a newer one if that arrives another way first. Callers that ask for the same share
   * one request.
   * @param minRemainingMs what the broker is asked for; less is accepted if it has nothing better
   */
  read(minRemainingMs: number, signal?: AbortSignal): Promise<Session> {
    const { shelf, attempts } = this.#parts;
    const first = (shared: AbortSignal): Promise<Session> =>
      shelf.orArrival(
        (held) => shelf.remainingMs(held) >= minRemainingMs,
        (overtaken) => attempts.run((attempt) => this.#once(minRemainingMs, attempt), [shared, overtaken]),
      );
    return this.#reads.join(minRemainingMs, first, signal);
  }

  /** Looks for a newer session in the background, at a bounded pace; a failure changes nothing. */
  refresh(): void {
    const { time, shelf, closed } = this.#parts;
    if (time.monotonicMs() < this.#refreshNotBeforeMs) return;
    this.#refreshNotBeforeMs = Number.POSITIVE_INFINITY;
    const held = shelf.newest;
    const rest = (): void => {
      if (shelf.newest > held) this.#refreshPace.reset();
      this.#refreshNotBeforeMs = time.monotonicMs() + this.#refreshPace.nextMs(REFRESH_PACE.baseMs);
    };
    const headers = { 'if-none-match': `"${held}"` };
    // Nobody waits for it: a failure becomes visible only to the next caller after the held session has ended.
    within(time, { ms: REFRESH_TIMEOUT_MS, parents: [closed], background: true }, ({ signal }) =>
      this.#ask({ path: '/session', headers, background: true, signal }),
    ).then(rest, rest);
  }

  /**
   * Reports a dead session, once however many callers notice.
   * @returns another session: a newer one, unless the broker has begun again without its store's data
   */
  report(rejection: Rejection, signal?: AbortSignal): Promise<Session> {
    return this.#reports.join(rejection.generation, (shared) => this.#replace(rejection, shared), signal);
  }

  /** The report of this session, if the gateway has just refused it by a code of the closed list. */
  deathOf(generation: number): Rejection | undefined {
    if (this.#dead?.rejection.generation !== generation) return undefined;
    return this.#parts.time.monotonicMs() < this.#dead.untilMs ? this.#dead.rejection : undefined;
  }

  underway(generation: number, signal?: AbortSignal): Promise<Session> | undefined {
    return this.#reports.joinUnderway(generation, signal);
  }

  async #replace(rejection: Rejection, shared: AbortSignal): Promise<Session> {
    const { shelf, attempts, time } = this.#parts;
    const isDead = DEAD.has(rejection.reason);
    shelf.suspect(rejection.generation);
    if (isDead) this.#dead = { rejection, untilMs: Number.POSITIVE_INFINITY };
    try {
      return await shelf.orArrival(
        ({ session }) => session.generation > rejection.generation,
        (overtaken) => attempts.run((signal) => this.#send(rejection, signal), [shared, overtaken]),
      );
    } catch (error) {
      shelf.acquit(rejection.generation);
      if (isDead) this.#dead = { rejection, untilMs: time.monotonicMs() + DEAD_FOR_MS };
      throw error;
    }
  }

  async #send({ generation, reason }: Rejection, signal: AbortSignal): Promise<Session> {
    const { http, shelf, merchant } = this.#parts;
    const call = { path: '/session/rejections', body: { generation, reason }, signal };
    const { answer, document, countedFromMs } = await http.json(call);
    const session = document === undefined ? undefined : readSession(document, merchant);
    if (document === undefined || session === undefined || session.generation === generation) {
      const facts = { status: answer.status, requestId: requestIdOf(answer) };
      throw new ProtocolError('session_not_newer', 'The broker gave no other session for a rejected one', facts);
    }
    const left = readLeft(document, countedFromMs);
    shelf.offer(session, { source: 'rejection', left, rejected: generation });
    const held = shelf.valid()?.session;
    return held === undefined || held.generation === generation ? session : held;
  }

  async #once(minRemainingMs: number, signal: AbortSignal): Promise<Session> {
    this.#demandNotRefused();
    const query = minRemainingMs > 0 ? `?minRemaining=${Math.ceil(minRemainingMs)}ms` : '';
    try {
      return await this.#ask({ path: `/session${query}`, headers: {}, signal });
    } catch (error) {
      if (error instanceof BrokerUnavailable && error.retryAfterMs !== undefined) {
        const lastsMs = Math.min(error.retryAfterMs, MAX_REFUSAL_MS);
        this.#refusal = { error, untilMs: this.#parts.time.monotonicMs() + lastsMs };
      }
      throw error;
    }
  }

  async #ask(call: BrokerCall): Promise<Session> {
    const { http, shelf, merchant } = this.#parts;
    const { answer, document, countedFromMs } = await http.json(call);
    const given = document === undefined ? undefined : readSession(document, merchant);
    if (document !== undefined && given !== undefined) {
      const left = readLeft(document, countedFromMs);
      if (shelf.offer(given, { source: 'read', left })) this.#refusal = undefined;
    }
    const held = shelf.valid();
    if (held !== undefined) return held.session;
    const outdated = new BrokerUnavailable(
      'session_outdated',
      'The broker gave a session that is past its end or replaced',
      { requestId: requestIdOf(answer) },
    );
    if (given === undefined || given.generation >= shelf.newest) throw outdated;
    // Either this replica lags behind, or no broker knows of the newest any more: it finds out which.
    return this.#send({ generation: shelf.newest, reason: outdated.code }, call.signal).catch((error: unknown) => {
      throw error instanceof Forbidden ? outdated : error;
    });
  }

  /** The broker has said when to come back; until then its answer is known. */
  #demandNotRefused(): void {
    if (this.#refusal === undefined) return;
    const retryAfterMs = this.#refusal.untilMs - this.#parts.time.monotonicMs();
    const { code, message, status, requestId } = this.#refusal.error;
    if (retryAfterMs > 0) throw new BrokerUnavailable(code, message, { status, requestId, retryAfterMs });
    this.#refusal = undefined;
  }
}

interface Flight<T> {
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/**
 * Work that many callers want and that runs once per key at a time. Each caller may leave through its own signal
 * without disturbing the rest; when the last one has left, the work is aborted.
 */
class SingleFlight<Key, T> {
  readonly #flights = new Map<Key, Flight<T>>();

  join(key: Key, start: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#await(key, this.#flights.get(key) ?? this.#launch(key, start), signal);
  }

  joinUnderway(key: Key, signal?: AbortSignal): Promise<T> | undefined {
    const flight = this.#flights.get(key);
    return flight === undefined ? undefined : this.#await(key, flight, signal);
  }

  async #await(key: Key, flight: Flight<T>, signal: AbortSignal | undefined): Promise<T> {
    flight.waiters += 1;
    try {
      return await orAborted(flight.outcome, signal);
    } finally {
      flight.waiters -= 1;
      if (flight.waiters === 0) this.#land(key, flight);
    }
  }

  #launch(key: Key, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight: Flight<T> = { outcome: start(controller.signal), controller, waiters: 0 };
    this.#flights.set(key, flight);
    const land = (): void => this.#land(key, flight);
    // The waiters get any failure; this branch is only for bookkeeping, so it must not fail.
    flight.outcome.then(land, land);
    return flight;
  }

  #land(key: Key, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    flight.controller.abort();
  }
}
