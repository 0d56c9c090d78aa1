import { msBetween } from '#libs/clock';
import type { SimulationLog } from './simulation.js';

/** A time without a session after the first one. Milliseconds from the start. */
export interface Gap {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Whether a session ended it, and not the end of the run. */
  readonly isReplaced: boolean;
}

/** The part of the time without a session that came after the outage. Durations in milliseconds. */
export interface GapAfterOutage {
  readonly gapMs: number;
  /** Until the first session after the outage, if no budget was spent: the pause after the last failed attempt. */
  readonly inPauseMs: number;
  /** In gaps in which the spent budget held the renewal up. */
  readonly byBudgetMs: number;
}

/** What is lost if one session ends before the next one comes. Durations in milliseconds. */
export interface Gaps {
  /**
   * The least time that a session had left when it was replaced; negative if it had already ended. Absent if none was
   * replaced or had ended.
   */
  readonly worstRemainingMs?: number;
  /** How long sessions were handed out past their safety margin. */
  readonly pastMarginMs: number;
  /** How long there was nothing to serve, from the first session on. */
  readonly withoutSessionMs: number;
  /** How many times there was nothing to serve. */
  readonly gaps: number;
  /** Absent if there was none. */
  readonly longestGap?: { readonly startsAfterMs: number; readonly gapMs: number };
  readonly afterOutage?: GapAfterOutage;
}

type Log = Pick<SimulationLog, 'sessions' | 'startsAt' | 'callsAtMs' | 'heldUpAtMs' | 'outageEndsAtMs'>;

/** Between each session and the next; for the last one, until the end of the simulation. */
export function gapsIn(log: Log, durationMs: number): Gaps {
  if (log.sessions.length === 0) return { pastMarginMs: 0, withoutSessionMs: durationMs, gaps: 1 };
  const gaps = timesWithout(log, durationMs);
  const [longest] = gaps.toSorted((one, other) => lengthOf(other) - lengthOf(one));
  return {
    ...marginsIn(log, durationMs),
    withoutSessionMs: sumOf(gaps.map(lengthOf)),
    gaps: gaps.length,
    ...(longest && { longestGap: { startsAfterMs: Math.round(longest.fromMs), gapMs: lengthOf(longest) } }),
    ...afterOutageIn(log, gaps),
  };
}

function timesWithout({ sessions, startsAt }: Log, durationMs: number): readonly Gap[] {
  return sessions
    .map(({ session }, index) => ({
      fromMs: session.expiresAt - startsAt,
      untilMs: sessions[index + 1]?.atMs ?? durationMs,
      isReplaced: sessions[index + 1] !== undefined,
    }))
    .filter((gap) => lengthOf(gap) > 0);
}

function marginsIn({ sessions, startsAt }: Log, durationMs: number): Pick<Gaps, 'worstRemainingMs' | 'pastMarginMs'> {
  const ends = sessions.map(({ session }, index) => {
    const next = sessions[index + 1];
    const since = (moment: typeof session.expiresAt): number =>
      Math.round(startsAt + (next?.atMs ?? durationMs) - moment);
    const marginMs = msBetween(session.mustRenewAt, session.expiresAt);
    return {
      isReplaced: next !== undefined,
      pastMarginMs: Math.min(Math.max(0, since(session.mustRenewAt)), marginMs),
      remainingMs: -since(session.expiresAt),
    };
  });
  const remaining = ends.filter(({ isReplaced, remainingMs }) => isReplaced || remainingMs < 0);
  return {
    ...(remaining.length > 0 && { worstRemainingMs: Math.min(...remaining.map(({ remainingMs }) => remainingMs)) }),
    pastMarginMs: sumOf(ends.map(({ pastMarginMs }) => pastMarginMs)),
  };
}

/** A gap may also come hours after the outage, if the attempts that failed during it have spent the budget. */
function afterOutageIn(log: Log, gaps: readonly Gap[]): Pick<Gaps, 'afterOutage'> {
  const { sessions, outageEndsAtMs: endMs } = log;
  if (endMs === undefined) return {};
  const nextMs = sessions.find(({ atMs }) => atMs >= endMs)?.atMs ?? Infinity;
  const after = gaps
    .filter(({ untilMs }) => untilMs > endMs)
    .map((gap) => ({ ...gap, fromMs: Math.max(gap.fromMs, endMs) }));
  if (after.length === 0) return {};
  const byBudget = after.filter((gap) => endsWithBudget(gap, log));
  const inPause = after.filter((gap) => gap.untilMs <= nextMs && !byBudget.includes(gap));
  return {
    afterOutage: {
      gapMs: sumOf(after.map(lengthOf)),
      inPauseMs: sumOf(inPause.map(lengthOf)),
      byBudgetMs: sumOf(byBudget.map(lengthOf)),
    },
  };
}

/** Whether the spent budget refused a call between the last failed one and the one that gave a session. */
function endsWithBudget({ untilMs, isReplaced }: Gap, { callsAtMs, heldUpAtMs }: Log): boolean {
  const before = isReplaced
    ? callsAtMs.filter((atMs) => atMs <= untilMs).slice(0, -1)
    : callsAtMs.filter((atMs) => atMs < untilMs);
  const lastFailedMs = before.at(-1) ?? 0;
  return heldUpAtMs.some((atMs) => atMs >= lastFailedMs && atMs <= untilMs);
}

const lengthOf = ({ fromMs, untilMs }: Gap): number => Math.round(untilMs - fromMs);

const sumOf = (durationsMs: readonly number[]): number => durationsMs.reduce((sum, next) => sum + next, 0);
