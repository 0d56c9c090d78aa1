import type { CreateCallBudget } from './ports/session-store.js';

/** At least this long between two sessions that one replica creates by itself, whatever the reason. */
const SHORTEST_PAUSE_MS = 10_000;

/** One merchant's create-call budget, counted by this replica alone while there is no store to count it in. */
export class CallAllowance {
  #callsAtMs: number[] = [];
  #notBeforeMs = -Infinity;
  #failures = 0;

  get failures(): number {
    return this.#failures;
  }

  /** Until a call is allowed; 0 when it is allowed now. All moments are monotonic. */
  waitMs(nowMs: number, budget: CreateCallBudget): number {
    const since = nowMs - budget.windowMs;
    this.#callsAtMs = this.#callsAtMs.filter((atMs) => atMs > since);
    const oldestToLeave = this.#callsAtMs[this.#callsAtMs.length - budget.calls];
    const budgetWaitMs = oldestToLeave === undefined ? 0 : oldestToLeave + budget.windowMs - nowMs;
    return Math.max(0, budgetWaitMs, this.#notBeforeMs - nowMs);
  }

  called(nowMs: number): void {
    this.#callsAtMs.push(nowMs);
    this.#notBeforeMs = nowMs + SHORTEST_PAUSE_MS;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(nowMs: number, retryInMs: number): void {
    this.#failures += 1;
    this.#notBeforeMs = nowMs + retryInMs;
  }
}
