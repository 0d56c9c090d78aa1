import { msBetween } from '#libs/clock';
import type { CreateCallBudget, CreateCallWindow } from './ports/session-store.js';
import { renewalIntervalMs } from './session-moments.js';
import type { SessionSettings } from './session-settings.js';
import type { Session } from './session.js';

/** How long the budget refuses another call. */
export interface BudgetWait {
  readonly retryInMs: number;
  /** The window that refuses for longest. */
  readonly window: CreateCallWindow;
  /** The call that has to leave it first; undefined when it allows no call at all. */
  readonly callAtMs?: number;
}

const DAY_MS = 86_400_000;
/** Twice what the schedule needs is left for attempts that fail, and for sessions that die. */
const TIMES_THE_SCHEDULE = 3;
const MIN_CALLS_A_DAY = 24;

/**
 * The budget in force: as it is written, with a window of a day that follows from the length of the sessions, unless
 * one so long is written.
 * @param newest the session that was made last, if there is one, even if it is over
 */
export function budgetInForce(
  settings: SessionSettings,
  newest: Pick<Session, 'createdAt' | 'expiresAt'> | undefined,
): CreateCallBudget {
  const { budget, fallbackLifetimeMs } = settings;
  if (longestWindowMs(budget) >= DAY_MS) return budget;
  const lifetimeMs = newest === undefined ? fallbackLifetimeMs : msBetween(newest.createdAt, newest.expiresAt);
  const scheduled = Math.ceil(DAY_MS / Math.max(1, renewalIntervalMs(lifetimeMs, settings)));
  const calls = Math.max(MIN_CALLS_A_DAY, TIMES_THE_SCHEDULE * scheduled);
  return [...budget, { calls, perMs: DAY_MS }];
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
