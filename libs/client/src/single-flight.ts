import { orAborted } from './deadline.js';

interface Flight<T> {
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/**
 * Work that many callers want and that runs once per key at a time. Each caller may leave through its own signal
 * without disturbing the rest; when the last one has left, the work is aborted.
 */
export class SingleFlight<Key, T> {
  readonly #flights = new Map<Key, Flight<T>>();

  /** Joins the work in progress, or starts it. */
  join(key: Key, start: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#await(key, this.#flights.get(key) ?? this.#launch(key, start), signal);
  }

  /** Joins the work in progress; undefined when there is none. */
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
