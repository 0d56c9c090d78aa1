import { DailyWindow, type DailyTimes, plusMs } from '#libs/clock';
import type { SimulationLog } from './simulation.js';

interface DayCall {
  /** By the clocks of the quiet hours' time zone, e.g. `03:41`. */
  readonly time: string;
  /** Whether it falls within the quiet hours. */
  readonly isQuiet: boolean;
}

/** The create calls of one day, in the order in which they were made: the clocks may be set back between two. */
export interface RenewalDay {
  /** E.g. `2026-10-25`. */
  readonly day: string;
  readonly calls: readonly DayCall[];
}

/** The calls of an outage come by the dozen. */
const MAX_SHOWN_TIMES = 6;

/** Each day with a create call, in order. */
export function renewalDays({ callsAtMs, startsAt }: SimulationLog, times: DailyTimes): readonly RenewalDay[] {
  const daily = new DailyWindow(times);
  const days = new Map<string, { readonly day: string; readonly calls: DayCall[] }>();
  for (const atMs of callsAtMs) {
    const moment = plusMs(startsAt, atMs);
    const { day, time } = daily.reading(moment);
    const known = days.get(day) ?? { day, calls: [] };
    days.set(day, known);
    known.calls.push({ time, isQuiet: daily.contains(moment) });
  }
  return [...days.values()];
}

export function nightLines(days: readonly RenewalDay[], { timeZone }: DailyTimes): readonly string[] {
  const calls = days.flatMap((day) => day.calls);
  const outside = calls.filter(({ isQuiet }) => !isQuiet).length;
  return [
    `  quiet hours      ${calls.length - outside} of the calls in them, ${outside} outside; times in ${timeZone}`,
    ...days.map((day) => `    ${day.day}     ${timesOf(day)}`),
  ];
}

/** Those outside of the quiet hours are in brackets. */
function timesOf({ calls }: RenewalDay): string {
  const times = calls.map(({ time, isQuiet }) => (isQuiet ? time : `(${time})`));
  return times.length > MAX_SHOWN_TIMES ? `from ${times[0] ?? ''} on, ${times.length} calls` : times.join(' ');
}
