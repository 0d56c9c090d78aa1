import type { Clock, ScheduledTask } from './clock.js';

/** One timer for several reasons to wake up: it rings once, at the earliest moment that was asked for. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #next: { readonly atMs: number; readonly task: ScheduledTask } | undefined;
  #closed = false;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** No effect if it rings by then anyway. */
  in(delayMs: number): void {
    const atMs = this.#clock.monotonicMs() + delayMs;
    if (this.#closed || (this.#next !== undefined && this.#next.atMs <= atMs)) return;
    this.cancel();
    const task = this.#clock.schedule(delayMs, () => {
      this.#next = undefined;
      this.#ring();
    });
    this.#next = { atMs, task };
  }

  /** Forgets whatever was asked for so far. */
  cancel(): void {
    this.#next?.task.cancel();
    this.#next = undefined;
  }

  /** Never rings again. */
  close(): void {
    this.#closed = true;
    this.cancel();
  }
}
