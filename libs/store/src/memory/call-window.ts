import type { CreateCallBudget } from '#libs/session';

interface Call {
  readonly fence: number;
  readonly atMs: number;
}

/** The create calls of one merchant in the sliding window: at most `calls` in any `windowMs`. */
export class CallWindow {
  #calls: Call[] = [];

  /** How long until a call may be taken; 0 when one may be taken now. */
  waitMs(nowMs: number, budget: CreateCallBudget): number {
    this.#calls = this.#calls.filter((call) => call.atMs + budget.windowMs > nowMs);
    if (this.#calls.length < budget.calls) return 0;
    // The budget may have been lowered: then more than one call has to leave the window.
    const lastToLeave = this.#calls[this.#calls.length - Math.max(1, budget.calls)];
    return lastToLeave === undefined ? budget.windowMs : lastToLeave.atMs + budget.windowMs - nowMs;
  }

  take(fence: number, nowMs: number): void {
    this.#calls.push({ fence, atMs: nowMs });
  }

  giveBack(fence: number): void {
    this.#calls = this.#calls.filter((call) => call.fence !== fence);
  }
}
