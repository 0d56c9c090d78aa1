import { type Instant, msBetween, plusMs, toRfc3339 } from '#libs/clock';
import { unavailableReasons } from '#libs/errors';
import { type Cause, type Clause, joined } from './failure-cause.js';
import type { CreateCallWindow } from './ports/session-store.js';
import type { Session } from './session.js';

/** No create call is left for anybody, the schedule included. */
export interface SpentBudget {
  /** When the next call is free. */
  readonly freeAt: Instant;
  /** The window that refuses for longest, if known. */
  readonly window?: CreateCallWindow;
}

interface Told {
  readonly now: Instant;
  readonly isForeign: boolean;
}

export const FOREIGN: Cause = {
  text: 'somebody else creates sessions of the merchant, and each ends ours',
  runbook: 'foreign-authorizer',
};

const { runbook } = unavailableReasons.budget_exhausted;
const FAIL_MEANWHILE: Clause = { text: 'payments fail from the end of its session until a call is free' };
const NEARLY_A_SECOND_MS = 999;
const HH_MM_SS = 8;
/** A time shorter than this is not worth stating. */
const JUST_NOW_MS = 2_000;

/** For a renewal that is due but not made; without a session, for a merchant that has to wait for one. */
export function heldBackCause(spent: SpentBudget, session: Session | undefined, { now, isForeign }: Told): Cause {
  if (!isForeign) return joined(untilACallClauses(spent, session, now), runbook);
  return joined([...heldBackClauses(spent, session, now), { text: FOREIGN.text }], FOREIGN.runbook);
}

/**
 * For payments that still work as far as is known, with what becomes of them if the session ends before a call is free.
 */
export function untilACallClauses(spent: SpentBudget, session: Session | undefined, now: Instant): readonly Clause[] {
  const clauses = heldBackClauses(spent, session, now);
  const isEndFirst = session !== undefined && session.expiresAt > now && session.expiresAt < spent.freeAt;
  return isEndFirst ? [...clauses, FAIL_MEANWHILE] : clauses;
}

export function heldBackClauses(spent: SpentBudget, session: Session | undefined, now: Instant): readonly Clause[] {
  const all = { text: allSpentText(spent, now) };
  const leftMs = session === undefined ? 0 : msBetween(now, session.expiresAt);
  return leftMs > 0 ? [all, { text: `its session is good for another ${spanText(leftMs)}`, inHeadline: '' }] : [all];
}

/** For a call that somebody wants at once. */
export function allSpentText({ freeAt, window }: SpentBudget, now: Instant): string {
  return `${callsText(window)} spent; the next one is free at ${momentText(freeAt, now)}`;
}

/** For a wish refused only by the budget. */
export const ASKED_AGAIN = 'and this replica asks again then';

/**
 * For a session that is reported dead and that the budget's share for reports does not replace. A refusal for the share
 * does not reveal whether the schedule has a call left.
 */
export function notReplacedText(shareFreeAt: Instant, renewAt: Instant | undefined, now: Instant): string {
  const isScheduledFirst = renewAt !== undefined && renewAt > now && renewAt < shareFreeAt;
  const first = isScheduledFirst
    ? `the scheduled renewal at ${secondText(renewAt, now)}, and only if a call is free then`
    : momentText(shareFreeAt, now);
  return `is not replaced before ${first}: the share of the budget for that is spent`;
}

/** If somebody else spends it too, that comes first: the calls it costs stop when they do. */
export function ofBudget(text: string, isForeign: boolean): Cause {
  return isForeign ? { text: `${text}; ${FOREIGN.text}`, runbook: FOREIGN.runbook } : { text, runbook };
}

/**
 * What nobody knows about a merchant that looks well, in the words of the status page. This replica has not heard what
 * other replicas were told.
 */
export function quietCause(quietMs: number): Cause {
  const isNew = quietMs < JUST_NOW_MS;
  const quiet = isNew
    ? 'a consumer has just reported a dead session to this replica'
    : `no consumer has reported a dead session to this replica for ${spanText(quietMs)}`;
  return { text: `${quiet}; somebody else may still create sessions`, runbook: FOREIGN.runbook };
}

/** Never too early, and as precise as every other time shown. */
export function momentText(moment: Instant, now: Instant): string {
  return secondText(plusMs(moment, NEARLY_A_SECOND_MS), now);
}

/** With the date if that is not today. */
export function secondText(moment: Instant, now: Instant): string {
  const [day, time] = toRfc3339(moment).split('T');
  const isToday = toRfc3339(now).startsWith(day ?? '');
  return `${isToday ? '' : `${day} `}${time?.slice(0, HH_MM_SS)} UTC`;
}

function callsText(window: CreateCallWindow | undefined): string {
  if (window === undefined) return 'all create calls of the budget are';
  const { calls, perMs } = window;
  return calls === 1
    ? `the one create call of ${spanText(perMs)} is`
    : `all ${calls} create calls of ${spanText(perMs)} are`;
}

const SPAN_UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Rounded down, in a unit of which there are at least two, so that it does not become wrong a moment later. */
export function spanText(durationMs: number): string {
  const [unit, unitMs] =
    SPAN_UNITS.find(([, ms]) => durationMs >= 2 * ms || durationMs === ms) ?? (['s', 1_000] as const);
  return `${Math.floor(durationMs / unitMs)} ${unit}`;
}
