import type { CreateCallBudget, CreateCallWindow } from './ports/session-store.js';

/** How long the budget refuses another call. */
export interface BudgetWait {
  readonly retryInMs: number;
  /** The window that refuses for longest. */
  readonly window: CreateCallWindow;
  /** The call that has to leave it first; undefined when it allows no call at all. */
  readonly callAtMs?: number;
}

/** How far back the longest window looks: older calls do not count. */
export function longestWindowMs(budget: CreateCallBudget): number {
  return Math.max(0, ...budget.map(({ perMs }) => perMs));
}

/**
 * Until every window allows another call; undefined when all of them do. `callsAtMs`: the calls made so far, in order,
 * none after `nowMs`. A budget may have been lowered: then more than one call has to leave a window.
 */
export function waitForBudget(
  callsAtMs: readonly number[],
  budget: CreateCallBudget,
  nowMs: number,
): BudgetWait | undefined {
  return budget
    .map((window) => waitForWindow(callsAtMs, window, nowMs))
    .reduce((longest, wait) => ((wait?.retryInMs ?? 0) > (longest?.retryInMs ?? 0) ? wait : longest), undefined);
}

function waitForWindow(callsAtMs: readonly number[], window: CreateCallWindow, nowMs: number): BudgetWait | undefined {
  if (window.calls < 1) return { retryInMs: window.perMs, window };
  const callAtMs = callsAtMs[callsAtMs.length - window.calls];
  if (callAtMs === undefined || callAtMs + window.perMs <= nowMs) return undefined;
  return { retryInMs: callAtMs + window.perMs - nowMs, window, callAtMs };
}
