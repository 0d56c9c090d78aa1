import { DailyWindow, type DailyTimes, plusMs } from '#libs/clock';
import type { SimulationLog } from './simulation.js';

/** The create calls of one day, by the clocks of the quiet hours' zone. */
export interface RenewalDay {
  /** E.g. `2026-10-25`. */
  readonly day: string;
  /** Times of day of the calls in quiet hours, e.g. `03:41`. */
  readonly quiet: readonly string[];
  /** Of all others. */
  readonly other: readonly string[];
}

/** Each day that has a create call, in order. */
export function renewalDays({ callsAtMs, startsAt }: SimulationLog, times: DailyTimes): readonly RenewalDay[] {
  const daily = new DailyWindow(times);
  const days = new Map<string, { readonly day: string; readonly quiet: string[]; readonly other: string[] }>();
  for (const atMs of callsAtMs) {
    const moment = plusMs(startsAt, atMs);
    const { day, time } = daily.reading(moment);
    const known = days.get(day) ?? { day, quiet: [], other: [] };
    days.set(day, known);
    (daily.contains(moment) ? known.quiet : known.other).push(time);
  }
  return [...days.values()];
}
