import type { Clock, ScheduledTask } from '#libs/clock';

/** Moments that lie this close together come together. */
const TOGETHER_MS = 250;

interface Sleepers<Item> {
  readonly all: () => Iterable<Item>;
  /** When the item is to be woken, by the monotonic clock. */
  readonly atMsOf: (item: Item) => number;
  readonly wake: (item: Item) => void;
}

/**
 * One timer for the moments of many. When it rings, all of them are looked at: for ten thousand that takes less than a
 * millisecond, four times in a second at most, and nothing has to be kept in order.
 */
export class WakeTimer<Item> {
  readonly #clock: Clock;
  readonly #sleepers: Sleepers<Item>;
  #timer: { readonly atMs: number; readonly task: ScheduledTask } | undefined;
  #isClosed = false;

  constructor(clock: Clock, sleepers: Sleepers<Item>) {
    this.#clock = clock;
    this.#sleepers = sleepers;
  }

  /** The moment of one of them has changed. */
  plan(itemAtMs: number): void {
    const atMs = Math.ceil(itemAtMs / TOGETHER_MS) * TOGETHER_MS;
    if (this.#isClosed || atMs === Infinity || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return;
    this.#timer?.task.cancel();
    const delayMs = Math.max(0, atMs - this.#clock.monotonicMs());
    this.#timer = { atMs, task: this.#clock.schedule(delayMs, () => this.#ring(atMs)) };
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.task.cancel();
  }

  #ring(armedAtMs: number): void {
    this.#timer = undefined;
    // The awaited moment has come, even if the clock's fractions make it fall short by a hair.
    const nowMs = Math.max(armedAtMs, this.#clock.monotonicMs());
    const { all, atMsOf, wake } = this.#sleepers;
    const due = [...all()].filter((item) => atMsOf(item) <= nowMs);
    for (const item of due) wake(item);
    let nextMs = Infinity;
    for (const item of all()) {
      const atMs = atMsOf(item);
      if (atMs > nowMs && atMs < nextMs) nextMs = atMs;
    }
    this.plan(nextMs);
  }
}
