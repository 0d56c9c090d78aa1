import { DailyWindow, type DailyTimes, plusMs } from '#libs/clock';
import type { SimulationLog } from './simulation.js';

/** The create calls of one day, by the clocks of the quiet hours' time zone. */
export interface RenewalDay {
  /** E.g. `2026-10-25`. */
  readonly day: string;
  /** In the order in which they were made: after the clocks are set back, a later one may have an earlier time. */
  readonly calls: readonly DayCall[];
}

interface DayCall {
  /** Time of day, e.g. `03:41`. */
  readonly time: string;
  /** Whether it falls within the quiet hours. */
  readonly isQuiet: boolean;
}

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
