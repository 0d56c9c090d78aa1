import { DailyWindow, msBetween, plusMs } from '#libs/clock';
import { budgetInForce, type CreateCallWindow, type SessionEvent } from '#libs/session';
import type { SimulationSetup } from './played-gateway.js';
import type { SimulationLog } from './simulation.js';

const HOUR_MS = 3_600_000;

/** A window of the budget, and what was used of it. */
export interface WindowFigures extends CreateCallWindow {
  /** The most calls in any stretch of this length. */
  readonly used: number;
}

/** What an operator judges a schedule by. Durations in milliseconds. */
export interface ScheduleFigures {
  readonly createCalls: number;
  /** How many of the calls gave a session. */
  readonly sessions: number;
  readonly createCallsPerHour: number;
  readonly mostInAnHour: number;
  readonly budget: readonly WindowFigures[];
  readonly failures: Readonly<Record<string, number>>;
  /** The least that a session had left when it was replaced; negative if it had ended. Absent if neither happened. */
  readonly worstRemainingMs?: number;
  /** How long sessions were handed out past their safety margin. */
  readonly pastMarginMs: number;
  /** How long there was nothing to serve, from the first session on. */
  readonly withoutSessionMs: number;
  readonly gaps: number;
  readonly longestGap?: { readonly startsAfterMs: number; readonly gapMs: number };
  /** The part of the time without a session that came after the outage. */
  readonly afterOutage?: { readonly gapMs: number };
  /** Renewals that the spent budget held up, each counted once until a call was made again. */
  readonly budgetRefusals: number;
  /** Sessions other than the first that were created outside the quiet hours. Absent if there are no quiet hours. */
  readonly outsideQuietHours?: number;
  /** The numbers behind the broker's own warning that the lead time is short. */
  readonly leadTimeShort?: { readonly leadMs: number; readonly neededMs: number };
}

/** The run of one merchant, and what it shows. */
export interface Played {
  readonly setup: SimulationSetup;
  readonly log: SimulationLog;
  readonly figures: ScheduleFigures;
}

export function figuresOf(
  log: SimulationLog,
  { durationMs, settings }: Pick<SimulationSetup, 'durationMs' | 'settings'>,
): ScheduleFigures {
  const { callsAtMs, events, sessions, startsAt } = log;
  const short = events.find((event) => event.event === 'lead_time_short');
  const quiet = settings.quietHours && new DailyWindow(settings.quietHours);
  return {
    ...callFigures(callsAtMs, durationMs),
    sessions: sessions.length,
    budget: budgetInForce(settings, sessions.at(-1)?.session).map((window) => ({
      ...window,
      used: mostWithin(callsAtMs, window.perMs),
    })),
    failures: failuresIn(events),
    ...gapsIn(log, durationMs),
    budgetRefusals: heldUpIn(events),
    ...(quiet && {
      outsideQuietHours: sessions.slice(1).filter(({ atMs }) => !quiet.contains(plusMs(startsAt, atMs))).length,
    }),
    ...(short && { leadTimeShort: { leadMs: short.leadMs, neededMs: short.neededMs } }),
  };
}

export type CallFigures = Pick<ScheduleFigures, 'createCalls' | 'createCallsPerHour' | 'mostInAnHour'>;

const callFigures = (callsAtMs: readonly number[], durationMs: number): CallFigures => ({
  createCalls: callsAtMs.length,
  createCallsPerHour: (callsAtMs.length * HOUR_MS) / durationMs,
  mostInAnHour: mostWithin(callsAtMs, HOUR_MS),
});

/** The most moments within any stretch of this length. */
function mostWithin(atMs: readonly number[], stretchMs: number): number {
  let first = 0;
  return atMs.reduce((most, last, index) => {
    while ((atMs[first] ?? last) <= last - stretchMs) first += 1;
    return Math.max(most, index - first + 1);
  }, 0);
}

function failuresIn(events: readonly SessionEvent[]): Readonly<Record<string, number>> {
  const failures: Record<string, number> = {};
  for (const event of events) {
    if (event.event !== 'renewal_finished' || event.outcome === 'success') continue;
    failures[event.outcome] = (failures[event.outcome] ?? 0) + 1;
  }
  return failures;
}

/** Each replica tries once a second: all that it is refused in the meantime is one renewal. */
function heldUpIn(events: readonly SessionEvent[]): number {
  let count = 0;
  let isCounted = false;
  for (const event of events) {
    if (event.event === 'renewal_finished') isCounted = false;
    const isHeldUp = event.event === 'claim_refused' && event.reason === 'budget_exhausted';
    if (!isHeldUp || isCounted) continue;
    isCounted = true;
    count += 1;
  }
  return count;
}

type Gaps = Pick<
  ScheduleFigures,
  'worstRemainingMs' | 'pastMarginMs' | 'withoutSessionMs' | 'gaps' | 'longestGap' | 'afterOutage'
>;

/** Compares each session with the next one and, for the last one, with the end of the run. */
function gapsIn({ sessions, startsAt, outageEndsAtMs = Infinity }: SimulationLog, durationMs: number): Gaps {
  if (sessions.length === 0) return { pastMarginMs: 0, withoutSessionMs: durationMs, gaps: 1 };
  const ends = sessions.map(({ session }, index) => {
    const next = sessions[index + 1];
    const untilMs = next?.atMs ?? durationMs;
    const endsMs = session.expiresAt - startsAt;
    const marginMs = msBetween(session.mustRenewAt, session.expiresAt);
    return {
      ...{ endsMs, untilMs, isReplaced: next !== undefined, remainingMs: Math.round(endsMs - untilMs) },
      pastMarginMs: Math.min(Math.max(0, Math.round(untilMs - endsMs) + marginMs), marginMs),
    };
  });
  const gaps = ends
    .filter(({ remainingMs }) => remainingMs < 0)
    .map(({ endsMs, untilMs, remainingMs }) => ({ startsAfterMs: Math.round(endsMs), untilMs, gapMs: -remainingMs }));
  const [longest] = gaps.toSorted((one, other) => other.gapMs - one.gapMs);
  const remaining = ends.filter(({ isReplaced, remainingMs }) => isReplaced || remainingMs < 0);
  // Also hours later: what failed in the outage may have spent the budget.
  const after = gaps.filter(({ untilMs }) => untilMs > outageEndsAtMs);
  const afterMs = after.map(({ gapMs, untilMs }) => Math.round(Math.min(gapMs, untilMs - outageEndsAtMs)));
  return {
    ...(remaining.length > 0 && { worstRemainingMs: Math.min(...remaining.map(({ remainingMs }) => remainingMs)) }),
    pastMarginMs: sumOf(ends.map(({ pastMarginMs }) => pastMarginMs)),
    withoutSessionMs: sumOf(gaps.map(({ gapMs }) => gapMs)),
    gaps: gaps.length,
    ...(longest && { longestGap: { startsAfterMs: longest.startsAfterMs, gapMs: longest.gapMs } }),
    ...(after.length > 0 && { afterOutage: { gapMs: sumOf(afterMs) } }),
  };
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, next) => sum + next, 0);

/** What a gateway sees of all merchants, and how many of them have a gap. Each was played separately. */
export interface SumOfMerchants extends CallFigures {
  readonly merchants: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly heldUp: number;
  readonly withGap: number;
  /** The time without a session of the merchant that was longest without one. */
  readonly longestGapMs: number;
}

export function sumOfMerchants(runs: readonly Played[], durationMs: number): SumOfMerchants {
  const gapsMs = runs.map(({ figures }) => figures.withoutSessionMs);
  const callsAtMs = runs.flatMap(({ log }) => log.callsAtMs).sort((left, right) => left - right);
  return {
    merchants: runs.length,
    ...callFigures(callsAtMs, durationMs),
    failures: failuresIn(runs.flatMap(({ log }) => log.events)),
    heldUp: runs.filter(({ figures }) => figures.budgetRefusals > 0).length,
    withGap: gapsMs.filter((gapMs) => gapMs > 0).length,
    longestGapMs: Math.max(...gapsMs),
  };
}
