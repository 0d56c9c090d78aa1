import { type CreateCallBudget, longestWindowMs, type MomentMark, waitForBudget } from '#libs/session';

/** One create call taken from the budget: identified by reference, since a fence does not identify a call. */
export interface TakenCall {
  /** Moved to the present if it turns out to be in the future. */
  atMs: number;
}

/** The create calls of one merchant, as far back as the longest window of its budget looks. */
export class CallLog {
  #calls: TakenCall[] = [];

  /** How long until a call may be taken; undefined if one may be taken now. */
  wait(nowMs: number, budget: CreateCallBudget): { retryInMs: number; mark: MomentMark; perMs: number } | undefined {
    const maxMs = longestWindowMs(budget);
    this.#calls = this.#calls.filter((call) => call.atMs + maxMs > nowMs);
    // Calls in the future were made before the clock was set back: they count from now on.
    for (const call of this.#calls) call.atMs = Math.min(call.atMs, nowMs);
    const callsAtMs = this.#calls.map(({ atMs }) => atMs);
    const wait = waitForBudget(callsAtMs, budget, nowMs);
    if (wait === undefined) return undefined;
    const { retryInMs, window, callAtMs = 'none' } = wait;
    const { perMs } = window;
    return { retryInMs, mark: `budget:${callAtMs}:${perMs}`, perMs };
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
