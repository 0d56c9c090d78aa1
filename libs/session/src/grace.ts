import type { Clock } from '#libs/clock';

/**
 * The time that others have to tell a store what it has lost, before anybody creates anything on its word: after a
 * restart, a failover or an emptying they all come back to it within a second or so, in no order.
 */
export class Grace {
  readonly #clock: Clock;
  readonly #graceMs: number;
  #endsAtMs = -Infinity;

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  begin(): void {
    this.#endsAtMs = this.#clock.monotonicMs() + this.#graceMs;
  }

  /** In whole milliseconds: whoever waits for what is left of one would wait for ever. */
  leftMs(): number {
    return Math.max(0, Math.ceil(this.#endsAtMs - this.#clock.monotonicMs()));
  }
}
