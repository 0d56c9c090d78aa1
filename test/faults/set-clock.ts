import { type Clock, type Instant, plusMs, type ScheduledTask } from '#libs/clock';

/** A clock that can be set: that of one replica, or that of the store. Time itself passes as `truth` does. */
export class SetClock implements Clock {
  /** How far its wall clock is ahead of the truth. */
  aheadMs = 0;
  /** Whether its moments are counted by the wall clock, as those of a store are. */
  readonly #isStore: boolean;
  readonly #truth: Clock;

  constructor(truth: Clock, isStore = false) {
    this.#truth = truth;
    this.#isStore = isStore;
  }

  now(): Instant {
    return plusMs(this.#truth.now(), this.aheadMs);
  }

  monotonicMs(): number {
    return this.#truth.monotonicMs() + (this.#isStore ? this.aheadMs : 0);
  }

  schedule(delayMs: number, task: () => void): ScheduledTask {
    return this.#truth.schedule(delayMs, task);
  }
}
