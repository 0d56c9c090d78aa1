import { msBetween } from '#libs/clock';
import { EARLY_RENEWAL_COOL_DOWN_MS } from './decisions.js';
import type { Block, Blocked, Merchant, Now, Wish } from './merchant.js';
import type { RenewalTrigger } from './ports/session-events.js';
import type { ClaimRefusal } from './ports/session-store.js';
import { renewalIntervalMs } from './session-moments.js';
import type { CreateCallBudget, CreateCallWindow, Session, SessionSettings } from './session.js';

/** However often a merchant's sessions are rejected, at most one per this time is created because of it. */
const REJECTION_COOL_DOWN_MS = 10_000;

interface TriggerRules {
  /** The store refuses it before the due moment, unless the wish says that this has passed. */
  readonly waitsForDue: boolean;
  /** An earlier refusal stands for it as well. The schedule asks the store itself, a person has mended the cause. */
  readonly mindsRefusals: boolean;
  /** It is not held up by the back-off after a failure. */
  readonly ignoresBackOff: boolean;
  /** What it waits for after another of its kind, if it replaces something of use: then it may spend a share only. */
  readonly coolDown: { readonly replaces: 'fresh' | 'living'; readonly atLeastMs: number } | undefined;
  readonly handsOver: boolean;
  /** After a return to the store, others may hold something newer: they are heard first. */
  readonly waitsForOthers: boolean;
}

const planned = {
  waitsForDue: true,
  mindsRefusals: false,
  ignoresBackOff: false,
  coolDown: undefined,
  handsOver: false,
  waitsForOthers: true,
} as const;

/** What starts a renewal, and what each of them may do. Whatever is not said here is the same for all. */
export const triggers: Readonly<Record<RenewalTrigger, TriggerRules>> = {
  startup: planned,
  schedule: { ...planned, handsOver: true },
  demand: {
    ...planned,
    waitsForDue: false,
    mindsRefusals: true,
    coolDown: { replaces: 'fresh', atLeastMs: EARLY_RENEWAL_COOL_DOWN_MS },
  },
  rejection: {
    ...planned,
    waitsForDue: false,
    mindsRefusals: true,
    coolDown: { replaces: 'living', atLeastMs: REJECTION_COOL_DOWN_MS },
    waitsForOthers: false,
  },
  operator: { ...planned, waitsForDue: false, ignoresBackOff: true },
};

interface BudgetWait {
  readonly retryInMs: number;
  readonly window: CreateCallWindow;
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
  const callAtMs = callsAtMs[callsAtMs.length - window.calls];
  if (callAtMs === undefined || callAtMs + window.perMs <= nowMs) return undefined;
  return { retryInMs: callAtMs + window.perMs - nowMs, window };
}

/** Early renewals may spend this share of each window of the budget; the rest is kept for the schedule. */
const SHARE_OF_WISHES = 0.75;
/** Of a window longer than an hour, attempts that do not wait for the end of a back-off leave the more: it is long. */
const SHARE_OF_THE_IMPATIENT = 0.4;
const HOUR_MS = 3_600_000;
/** From the last attempt, or the last try to make one, until somebody who has nothing to use may make another. */
const IMPATIENT_AFTER_MS = 10_000;

export function replacesLiving({ coolDownMs }: Pick<Wish, 'coolDownMs'>): boolean {
  return coolDownMs > 0;
}

/** @param wish what was refused: if it would have replaced a living session, its budget is only a share */
export function blockedBy(
  blocked: Blocked,
  refusal: ClaimRefusal,
  { ms, wish: { coolDownMs } = { coolDownMs: 0 } }: { readonly ms: number; readonly wish?: Pick<Wish, 'coolDownMs'> },
): Blocked {
  // It concerns the schedule alone, which asks the store anyway.
  if (refusal.kind === 'not_due') return blocked;
  const untilMs = ms + refusal.retryInMs;
  const block = { refusal, untilMs, bindsUntilMs: ms + IMPATIENT_AFTER_MS, coolDownMs };
  const isOfShare = refusal.kind === 'budget_exhausted' && replacesLiving({ coolDownMs });
  return isOfShare || refusal.kind === 'cooled_down' ? { ...blocked, early: block } : { ...blocked, everybody: block };
}

/** The refusal that still stands for such a wish, with what is left of it. A longer cool-down says nothing of this one. */
export function standingFor(
  { blocked }: Merchant,
  { coolDownMs }: Pick<Wish, 'coolDownMs'>,
  now: Now,
): ClaimRefusal | undefined {
  const everybody = standing(blocked.everybody, now);
  if (everybody !== undefined || coolDownMs <= 0) return everybody;
  const early = standing(blocked.early, now);
  return early?.kind === 'cooled_down' && (blocked.early?.coolDownMs ?? 0) > coolDownMs ? undefined : early;
}

/** Whether somebody who has nothing to use need not wait any longer; if so, the next one waits as long again. */
export function cutShort({ blocked }: Merchant, now: Now): Blocked | undefined {
  const { everybody } = blocked;
  if (everybody?.refusal.kind !== 'backing_off' || now.ms < everybody.bindsUntilMs) return undefined;
  return { ...blocked, everybody: { ...everybody, bindsUntilMs: now.ms + IMPATIENT_AFTER_MS } };
}

/** What this wish may spend of the budget: the rest belongs to the schedule. */
export function shareOf(wish: Wish, budget: CreateCallBudget): CreateCallBudget {
  if (wish.cutsShort === undefined && !replacesLiving(wish)) return budget;
  return budget.map(({ calls, perMs }) => {
    const share = wish.cutsShort !== undefined && perMs > HOUR_MS ? SHARE_OF_THE_IMPATIENT : SHARE_OF_WISHES;
    return { calls: Math.max(1, Math.floor(calls * share)), perMs };
  });
}

export function budgetOf(merchant: Merchant, settings: SessionSettings): CreateCallBudget {
  return budgetInForce(settings, merchant.held?.session);
}

/** There is no window if the budget was a different one when the store refused. */
interface SpentWait {
  readonly retryInMs: number;
  readonly window: CreateCallWindow | undefined;
}

/** How long the budget lets nobody call, the schedule included: the longer of our own count and what the store said. */
export function spentWait(merchant: Merchant, now: Now): SpentWait | undefined {
  if (now.settings === undefined) return undefined;
  const budget = budgetOf(merchant, now.settings);
  const own = waitForBudget(merchant.callsAtMs, budget, now.ms);
  const told = standing(merchant.blocked.everybody, now);
  if (told?.kind !== 'budget_exhausted' || (own?.retryInMs ?? 0) >= told.retryInMs) return own;
  return { retryInMs: told.retryInMs, window: budget.find((window) => window.perMs === told.perMs) };
}

/** Whether no call is left, of the whole budget or of the share for wishes. */
export function isBudgetSpent(merchant: Merchant, now: Now): boolean {
  return spentWait(merchant, now) !== undefined || standing(merchant.blocked.early, now)?.kind === 'budget_exhausted';
}

/** When wishing for a session can make sense again; undefined if nothing prevents it now. */
export function retryInMsOf(merchant: Merchant, now: Now): number | undefined {
  const block = standing(merchant.blocked.everybody, now);
  const longestMs = Math.max(block?.retryInMs ?? 0, spentWait(merchant, now)?.retryInMs ?? 0);
  return longestMs > 0 ? longestMs : undefined;
}

function standing(block: Block | undefined, now: Now): ClaimRefusal | undefined {
  if (block === undefined || block.untilMs <= now.ms) return undefined;
  return { ...block.refusal, retryInMs: block.untilMs - now.ms };
}
