import type { CreateCallBudget, MomentMark } from '#libs/session';

/** One create call that was taken from the budget: known by its identity, since a fence does not name a call. */
export interface TakenCall {
  /** Moved to the present when it turns out to lie in the future. */
  atMs: number;
}

/** The create calls of one merchant in the sliding window: at most `calls` in any `windowMs`. */
export class CallWindow {
  #calls: TakenCall[] = [];

  /** How long until a call may be taken; undefined when one may be taken now. */
  wait(nowMs: number, budget: CreateCallBudget): { retryInMs: number; mark: MomentMark } | undefined {
    this.#calls = this.#calls.filter((call) => call.atMs + budget.windowMs > nowMs);
    // Calls in the future were made before the clock was set back: they count from now.
    for (const call of this.#calls) call.atMs = Math.min(call.atMs, nowMs);
    if (this.#calls.length < budget.calls) return undefined;
    // The budget may have been lowered: then more than one call has to leave the window.
    const lastToLeave = this.#calls[this.#calls.length - Math.max(1, budget.calls)];
    if (lastToLeave === undefined) return { retryInMs: budget.windowMs, mark: 'budget:none' };
    return { retryInMs: lastToLeave.atMs + budget.windowMs - nowMs, mark: `budget:${lastToLeave.atMs}` };
  }

  take(nowMs: number): TakenCall {
    const call = { atMs: nowMs };
    this.#calls.push(call);
    return call;
  }

  giveBack(taken: TakenCall): void {
    this.#calls = this.#calls.filter((call) => call !== taken);
  }
}
