import { orAborted } from './abort.js';

interface Flight<T> {
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/**
 * Work that many want and that is done once per key at a time. Each may leave by its own signal without disturbing the
 * rest; when the last has left, the work is aborted.
 */
export class SingleFlight<Key, T> {
  readonly #flights = new Map<Key, Flight<T>>();

  /** Joins the work that is under way, or starts it. */
  join(key: Key, start: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#await(key, this.#flights.get(key) ?? this.#launch(key, start), signal);
  }

  /** Joins the work that is under way; undefined when there is none. */
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
    // Those who wait are told of a failure; this branch only keeps the books, and so must not fail.
    flight.outcome.then(land, land);
    return flight;
  }

  #land(key: Key, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    flight.controller.abort();
  }
}
