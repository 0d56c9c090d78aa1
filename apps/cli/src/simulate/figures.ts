import { DailyWindow, msBetween, plusMs } from '#libs/clock';
import { callsOnSchedule, type CreateCallWindow, type SessionEvent, type SessionSettings } from '#libs/session';
import { type Gaps, gapsIn } from './gaps.js';
import { isHeldUp, type SimulationLog } from './simulation.js';

const HOUR_MS = 3_600_000;

/** A window of the budget, and what was used of it. */
export interface WindowFigures extends CreateCallWindow {
  /** The most calls in any stretch of this length. */
  readonly used: number;
  /** The calls that the schedule alone would make in it if no call failed; 0 if there was no session. */
  readonly needed: number;
}

/** What an operator judges a schedule by. Durations in milliseconds. */
export interface ScheduleFigures extends Gaps {
  readonly createCalls: number;
  /** How many of the calls gave a session. */
  readonly sessions: number;
  readonly createCallsPerHour: number;
  readonly mostInAnHour: number;
  readonly budget: readonly WindowFigures[];
  readonly failures: Readonly<Record<string, number>>;
  /** The shortest life that a session was believed to have. Absent if there was no session. */
  readonly shortestLifeMs?: number;
  /** Renewals that the spent budget held up, each counted once until a call was made again. */
  readonly budgetRefusals: number;
  /** Sessions other than the first that were created outside the quiet hours. Absent if there are no quiet hours. */
  readonly outsideQuietHours?: number;
  /** The numbers behind the broker's own warning that the lead time is short. */
  readonly leadTimeShort?: { readonly leadMs: number; readonly neededMs: number };
}

export function figuresOf(log: SimulationLog, durationMs: number, settings: SessionSettings): ScheduleFigures {
  const { callsAtMs, events } = log;
  const life = shortestLifeIn(log);
  const short = events.find((event) => event.event === 'lead_time_short');
  return {
    createCalls: callsAtMs.length,
    sessions: log.sessions.length,
    createCallsPerHour: (callsAtMs.length * HOUR_MS) / durationMs,
    mostInAnHour: mostWithin(callsAtMs, HOUR_MS),
    budget: settings.budget.map((window) => ({
      ...window,
      used: mostWithin(callsAtMs, window.perMs),
      needed: life.shortestLifeMs === undefined ? 0 : callsOnSchedule(life.shortestLifeMs, settings, window.perMs),
    })),
    failures: failuresIn(events),
    ...gapsIn(log, durationMs),
    ...life,
    budgetRefusals: heldUpIn(events),
    ...outsideQuietHoursIn(log, settings),
    ...(short === undefined ? {} : { leadTimeShort: { leadMs: short.leadMs, neededMs: short.neededMs } }),
  };
}

type Harm = Pick<ScheduleFigures, 'withoutSessionMs' | 'pastMarginMs'>;

/** There was never a time without a session, and none was past its margin. */
export const isHarmless = ({ withoutSessionMs, pastMarginMs }: Harm): boolean =>
  withoutSessionMs === 0 && pastMarginMs === 0;

/** By the time without a session; if that is equal, by the time past the margin. */
export const isHitHarder = (one: Harm, other: Harm): boolean =>
  one.withoutSessionMs === other.withoutSessionMs
    ? one.pastMarginMs > other.pastMarginMs
    : one.withoutSessionMs > other.withoutSessionMs;

/** The most moments within any stretch of this length. */
export function mostWithin(atMs: readonly number[], stretchMs: number): number {
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

function outsideQuietHoursIn(
  { sessions, startsAt }: SimulationLog,
  { quietHours }: SessionSettings,
): Pick<ScheduleFigures, 'outsideQuietHours'> {
  if (quietHours === undefined) return {};
  const daily = new DailyWindow(quietHours);
  const others = sessions.slice(1).filter(({ atMs }) => !daily.contains(plusMs(startsAt, atMs)));
  return { outsideQuietHours: others.length };
}

/** Each replica tries once a second: all that it is refused in the meantime is one renewal. */
function heldUpIn(events: readonly SessionEvent[]): number {
  let count = 0;
  let isCounted = false;
  for (const event of events) {
    if (event.event === 'renewal_finished') isCounted = false;
    if (!isHeldUp(event) || isCounted) continue;
    isCounted = true;
    count += 1;
  }
  return count;
}

function shortestLifeIn({ sessions }: SimulationLog): Pick<ScheduleFigures, 'shortestLifeMs'> {
  if (sessions.length === 0) return {};
  return {
    shortestLifeMs: Math.min(...sessions.map(({ session }) => msBetween(session.createdAt, session.expiresAt))),
  };
}
