import { type BudgetWait, budgetInForce, longestWindowMs, waitForBudget } from './create-call-budget.js';
import type { Block, Blocked, Merchant, Now, Wish } from './merchant.js';
import type { ClaimRefusal, CreateCallBudget, CreateCallWindow } from './ports/session-store.js';
import type { SessionSettings } from './session-settings.js';

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
  const isEarly = coolDownMs > 0;
  const untilMs = ms + refusal.retryInMs;
  const block = { refusal, untilMs, bindsUntilMs: ms + IMPATIENT_AFTER_MS, coolDownMs };
  if (refusal.kind === 'cooled_down') return { ...blocked, early: block };
  if (refusal.kind !== 'budget_exhausted') return { ...blocked, everybody: block };
  return isEarly ? { ...blocked, early: block, share: block } : { ...blocked, everybody: block, budget: block };
}

/** The refusal that still stands for such a wish, with what is left of it. A longer cool-down says nothing of this one. */
export function standingFor(
  { blocked }: Merchant,
  { coolDownMs }: Pick<Wish, 'coolDownMs'>,
  now: Pick<Now, 'ms'>,
): ClaimRefusal | undefined {
  const everybody = standing(blocked.everybody, now);
  if (everybody !== undefined || coolDownMs <= 0) return everybody;
  const early = standing(blocked.early, now);
  return early?.kind === 'cooled_down' && (blocked.early?.coolDownMs ?? 0) > coolDownMs ? undefined : early;
}

/** Whether somebody who has nothing to use need not wait any longer; if so, the next one waits as long again. */
export function cutShort({ blocked }: Merchant, now: Pick<Now, 'ms'>): Blocked | undefined {
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

/** Until this process may call within the budget, by its own count; undefined when it may now. */
export function ceilingWait(
  { callsAtMs }: Merchant,
  budget: CreateCallBudget,
  now: Pick<Now, 'ms'>,
): BudgetWait | undefined {
  const fromMs = now.ms - longestWindowMs(budget);
  return waitForBudget(
    callsAtMs.filter((atMs) => atMs > fromMs),
    budget,
    now.ms,
  );
}

/** How long the budget lets nobody call, the schedule included: the longer of our own count and what the store said. */
export interface SpentWait {
  readonly retryInMs: number;
  /** The window that refuses for longest, if known. */
  readonly window?: CreateCallWindow | undefined;
}

export function spentWait(merchant: Merchant, now: Pick<Now, 'ms' | 'settings'>): SpentWait | undefined {
  if (now.settings === undefined) return undefined;
  const budget = budgetOf(merchant, now.settings);
  const own = ceilingWait(merchant, budget, now);
  const told = standing(merchant.blocked.budget, now);
  if (told?.kind !== 'budget_exhausted' || (own?.retryInMs ?? 0) >= told.retryInMs) return own;
  // None if the budget was a different one when the store refused.
  return { retryInMs: told.retryInMs, window: budget.find((window) => window.perMs === told.perMs) };
}

/** Whether no call is left, of the whole budget or of the share for wishes. */
export function isBudgetSpent(merchant: Merchant, now: Pick<Now, 'ms' | 'settings'>): boolean {
  return spentWait(merchant, now) !== undefined || standing(merchant.blocked.share, now) !== undefined;
}

/** When wishing for a session can make sense again; undefined if nothing prevents it now. */
export function retryInMsOf(merchant: Merchant, now: Pick<Now, 'ms' | 'settings'>): number | undefined {
  const block = standing(merchant.blocked.everybody, now);
  const longestMs = Math.max(block?.retryInMs ?? 0, spentWait(merchant, now)?.retryInMs ?? 0);
  return longestMs > 0 ? longestMs : undefined;
}

function standing(block: Block | undefined, now: Pick<Now, 'ms'>): ClaimRefusal | undefined {
  if (block === undefined || block.untilMs <= now.ms) return undefined;
  return { ...block.refusal, retryInMs: block.untilMs - now.ms };
}
