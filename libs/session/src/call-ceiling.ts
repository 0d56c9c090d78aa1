import type { Clock } from '#libs/clock';
import { type BudgetWait, longestWindowMs, waitForBudget } from './create-call-budget.js';
import type { CreateCallBudget } from './ports/session-store.js';

/**
 * The create calls that this process itself has made, per merchant: a ceiling beneath the budget that all replicas
 * share in the store. It always holds, whereas a store can lose the budget, and anybody who can write to the store can
 * remove it.
 */
export class CallCeiling {
  readonly #clock: Clock;
  readonly #callsAtMs = new Map<string, readonly number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Until a call is allowed; 0 when it is allowed now. */
  waitMs(merchant: string, budget: CreateCallBudget): number {
    return this.wait(merchant, budget)?.retryInMs ?? 0;
  }

  /** Until a call is allowed, and which window refuses it; undefined when a call is allowed now. */
  wait(merchant: string, budget: CreateCallBudget): BudgetWait | undefined {
    const nowMs = this.#clock.monotonicMs();
    const fromMs = nowMs - longestWindowMs(budget);
    const made = (this.#callsAtMs.get(merchant) ?? []).filter((atMs) => atMs > fromMs);
    this.#callsAtMs.set(merchant, made);
    return waitForBudget(made, budget, nowMs);
  }

  called(merchant: string): void {
    this.#callsAtMs.set(merchant, [...(this.#callsAtMs.get(merchant) ?? []), this.#clock.monotonicMs()]);
  }

  /**
   * The last call was not made after all: there was not even a connection. A call that was made is never given back.
   */
  giveBack(merchant: string): void {
    this.#callsAtMs.set(merchant, (this.#callsAtMs.get(merchant) ?? []).slice(0, -1));
  }
}
