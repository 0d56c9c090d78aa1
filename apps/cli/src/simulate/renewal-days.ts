import { DailyWindow, type DailyTimes, plusMs } from '#libs/clock';
import type { SimulationLog } from './simulation.js';

/** The create calls of one day, by the clocks of the quiet hours' zone. */
export interface RenewalDay {
  /** E.g. `2026-10-25`. */
  readonly day: string;
  /** In the order in which they were made: where clocks are set back, a later one may have an earlier time. */
  readonly calls: readonly DayCall[];
}

interface DayCall {
  /** Of the day, e.g. `03:41`. */
  readonly time: string;
  /** Whether it lies in the quiet hours. */
  readonly isQuiet: boolean;
}

/** Each day that has a create call, in order. */
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
