import type { Clock } from '#libs/clock';

/**
 * The time that other replicas get to tell a store what it has lost, before anything is created on its word: after a
 * restart, a failover or the loss of its data they all come back to it within a second or so, in any order.
 */
export class Grace {
  readonly #clock: Clock;
  readonly #graceMs: number;
  #endsAtMs: number | undefined;

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  begin(): void {
    this.#endsAtMs = this.#clock.monotonicMs() + this.#graceMs;
  }

  /** In whole milliseconds: waiting for a fraction of one would mean waiting for ever. */
  leftMs(): number {
    // Who has not reached it yet has not heard anybody either.
    if (this.#endsAtMs === undefined) return this.#graceMs;
    return Math.max(0, Math.ceil(this.#endsAtMs - this.#clock.monotonicMs()));
  }
}
