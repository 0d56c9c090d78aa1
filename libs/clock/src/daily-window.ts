import { type Instant, instantFromEpochMs } from './instant.js';
import { parseTimeOfDayMs } from './time-of-day.js';
import { TimeZone } from './time-zone.js';

const DAY_MS = 86_400_000;

/** From `from` (inclusive) to `until` (exclusive). */
export interface Span {
  readonly from: Instant;
  readonly until: Instant;
}

/**
 * Times of day on the clocks of a zone, e.g. `03:00` to `05:00` in `Europe/Kyiv`; across midnight unless `to` is later.
 */
export interface DailyTimes {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
}

/**
 * The hours between two times of day, every day. A window begins when the clocks first show its start time and ends
 * when they first show its end time. So it is an hour longer if an hour repeats within it, shorter if one is skipped,
 * and a day on which all of it is skipped has none.
 */
export class DailyWindow {
  readonly #zone: TimeZone;
  readonly #fromMs: number;
  readonly #toMs: number;

  /** @throws RangeError for an invalid time of day, an unknown zone, or a window of zero length */
  constructor({ from, to, timeZone }: DailyTimes) {
    this.#zone = new TimeZone(timeZone);
    this.#fromMs = timeOf(from);
    const toMs = timeOf(to);
    if (toMs === this.#fromMs) throw new RangeError('a daily window ends at another time than it begins');
    this.#toMs = toMs > this.#fromMs ? toMs : toMs + DAY_MS;
  }

  /** Not counting clock changes within it. */
  get lengthMs(): number {
    return this.#toMs - this.#fromMs;
  }

  /** The windows that end after this moment, in order and without end: take as many as needed. */
  *endingAfter(instant: Instant): Generator<Span, never> {
    const local = this.#zone.localAt(instant);
    for (let day = Math.floor(local / DAY_MS) - 1; ; day += 1) {
      const from = this.#zone.firstShowing(day * DAY_MS + this.#fromMs);
      const until = this.#zone.firstShowing(day * DAY_MS + this.#toMs);
      if (until > from && until > instant) yield { from, until };
    }
  }

  contains(instant: Instant): boolean {
    return this.endingAfter(instant).next().value.from <= instant;
  }

  /** The day and the time of day that the clocks show, e.g. `2026-10-25` and `03:41`. */
  reading(instant: Instant): { readonly day: string; readonly time: string } {
    const local = new Date(instantFromEpochMs(this.#zone.localAt(instant))).toISOString();
    return { day: local.slice(0, 10), time: local.slice(11, 16) };
  }
}

function timeOf(text: string): number {
  const ms = parseTimeOfDayMs(text);
  if (ms === undefined) throw new RangeError('no time of day: it is written as 03:00');
  return ms;
}
