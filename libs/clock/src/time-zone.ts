import { type Instant, instantFromEpochMs } from './instant.js';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** What the clocks of a zone show, as the epoch milliseconds that the same reading would have in UTC. */
export type LocalMs = number;

/** The clocks of one zone of the IANA time zone database, as this machine's copy knows it. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;

  /** @throws RangeError for an unknown name */
  constructor(name: string) {
    this.#format = formatOf(name);
  }

  localAt(instant: Instant): LocalMs {
    const withinSecondMs = ((instant % SECOND_MS) + SECOND_MS) % SECOND_MS;
    // Parsed from text, because formatting to parts takes four times as long. The order is US order: see `formatOf`.
    const numbers = this.#format.format(instant - withinSecondMs).match(/\d+/g) ?? [];
    const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = numbers.map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) + withinSecondMs;
  }

  /**
   * The first moment at which the clocks show this or anything later: for a reading that occurs twice, the first time;
   * for one that is skipped, the moment of the jump. So a later reading is never shown before an earlier one.
   */
  firstShowing(local: LocalMs): Instant {
    // No zone is more than a day from UTC, so a jump that matters lies between these, and no zone jumps twice in two
    // days.
    const [before = 0, after = 0] = [-DAY_MS, DAY_MS].map((byMs) => this.#offsetAt(instantFromEpochMs(local + byMs)));
    if (before === after) return instantFromEpochMs(local - before);
    const [early, late] = [Math.min(local - before, local - after), Math.max(local - before, local - after)];
    const shown = [early, late].find((moment) => this.localAt(instantFromEpochMs(moment)) === local);
    return instantFromEpochMs(shown ?? this.#jumpOver(local, early, late));
  }

  #offsetAt(instant: Instant): number {
    return this.localAt(instant) - instant;
  }

  #jumpOver(local: LocalMs, early: number, late: number): number {
    let [before, after] = [early, late];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.localAt(instantFromEpochMs(middle)) < local) before = middle;
      else after = middle;
    }
    return after;
  }
}

/** Creating one costs as much as thirty readings, and there are never more of them than zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  formats.set(timeZone, format);
  return format;
}

/**
 * Whether this machine knows a zone by this name. An offset such as `+02:00` is not a zone: it has no daylight saving.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new TimeZone(name) instanceof TimeZone;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
