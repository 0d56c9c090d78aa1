import { persist } from './attempts.js';
import type { ClientParts } from './client-parts.js';
import { orAborted } from './deadline.js';
import { BrokerUnavailable, Forbidden, ProtocolError, type Rejection } from './errors.js';
import { DEAD } from './gateway-call.js';
import { readEndMs, readSession, type Session } from './session.js';

/** For this long after no newer one came, the gateway is not asked again about a session that it called dead. */
const DEAD_FOR_MS = 10_000;

/** Asks for the sessions that the follower does not deliver: the first, and those for rejected ones. */
export class SessionRequests {
  readonly #parts: ClientParts;
  readonly #flights = new SingleFlight<number, Session>();
  #dead: { readonly rejection: Rejection; readonly untilMs: number } | undefined;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /**
   * A session from the broker, or from elsewhere if one arrives first. All who ask meanwhile share one request: no
   * session has generation 0.
   */
  read(signal?: AbortSignal): Promise<Session> {
    return this.#flights.join(0, (shared) => this.#first(0, (attempt) => this.#ask(attempt), shared), signal);
  }

  /**
   * Reports a dead session, once however many callers notice.
   * @returns another session: a newer one, unless the broker has begun again without its store's data
   */
  report(rejection: Rejection, signal?: AbortSignal): Promise<Session> {
    return this.#flights.join(rejection.generation, (shared) => this.#replace(rejection, shared), signal);
  }

  /** The report of this session, if the gateway has just refused it by a code of the closed list. */
  deathOf(generation: number): Rejection | undefined {
    if (this.#dead?.rejection.generation !== generation) return undefined;
    return this.#parts.time.monotonicMs() < this.#dead.untilMs ? this.#dead.rejection : undefined;
  }

  /** Whether it is being replaced, or was refused as dead. */
  isDoubted(generation: number): boolean {
    return this.#flights.has(generation) || this.deathOf(generation) !== undefined;
  }

  underway(generation: number, signal?: AbortSignal): Promise<Session> | undefined {
    return this.#flights.joinUnderway(generation, signal);
  }

  async #replace(rejection: Rejection, shared: AbortSignal): Promise<Session> {
    const isDead = DEAD.has(rejection.reason);
    if (isDead) this.#dead = { rejection, untilMs: Number.POSITIVE_INFINITY };
    try {
      return await this.#first(rejection.generation, (attempt) => this.#send(rejection, attempt), shared);
    } catch (error) {
      if (isDead) this.#dead = { rejection, untilMs: this.#parts.time.monotonicMs() + DEAD_FOR_MS };
      throw error;
    }
  }

  /** The outcome of `once`, or a session newer than this one that arrives before. */
  #first(generation: number, once: (attempt: AbortSignal) => Promise<Session>, shared: AbortSignal): Promise<Session> {
    return this.#parts.shelf.orArrival(generation, (overtaken) => persist(this.#parts, once, [shared, overtaken]));
  }

  async #send({ generation, reason }: Rejection, signal: AbortSignal): Promise<Session> {
    const { http, shelf, merchant } = this.#parts;
    const call = { path: '/session/rejections', body: { generation, reason }, signal };
    const { document, countedFromMs } = await http.json(call);
    const session = readSession(document, merchant);
    if (session.generation === generation) {
      throw new ProtocolError('session_not_newer', 'The broker gave no other session for a rejected one');
    }
    shelf.offer(session, { source: 'rejection', endsAtMs: readEndMs(document, countedFromMs), rejected: generation });
    const held = shelf.valid();
    return held === undefined || held.generation === generation ? session : held;
  }

  async #ask(signal: AbortSignal): Promise<Session> {
    const { http, shelf, merchant } = this.#parts;
    const { document, countedFromMs } = await http.json({ path: '/session', signal });
    const given = readSession(document, merchant);
    shelf.offer(given, { source: 'read', endsAtMs: readEndMs(document, countedFromMs) });
    const held = shelf.valid();
    if (held !== undefined) return held;
    const says = 'The broker gave a session that is past its end or replaced';
    const outdated = new BrokerUnavailable('session_outdated', says);
    if (given.generation >= shelf.newest) throw outdated;
    // Either this replica lags behind, or no broker knows of the newest any more: it finds out which.
    return this.#send({ generation: shelf.newest, reason: outdated.code }, signal).catch((error: unknown) => {
      throw error instanceof Forbidden ? outdated : error;
    });
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

  has(key: Key): boolean {
    return this.#flights.has(key);
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
