declare const instantBrand: unique symbol;

/** A moment of the wall clock, in whole or fractional milliseconds since the Unix epoch. Compare with `<` and `>`. */
export type Instant = number & { readonly [instantBrand]: 'Instant' };

/** The last moment that ECMAScript's Date can hold. */
const LAST_EPOCH_MS = 8.64e15;

/** @throws RangeError if `epochMs` is not a moment that a Date can hold. */
export function instantFromEpochMs(epochMs: number): Instant {
  if (!Number.isFinite(epochMs) || Math.abs(epochMs) > LAST_EPOCH_MS) {
    throw new RangeError('not a moment: milliseconds since the epoch are out of range');
  }
  return epochMs as Instant;
}

export function plusMs(instant: Instant, durationMs: number): Instant {
  return instantFromEpochMs(instant + durationMs);
}

/** Milliseconds from `from` to `to`; negative when `to` is the earlier one. */
export function msBetween(from: Instant, to: Instant): number {
  return to - from;
}

export function earliest(first: Instant, ...others: readonly Instant[]): Instant {
  return others.reduce((least, instant) => (instant < least ? instant : least), first);
}

export function latest(first: Instant, ...others: readonly Instant[]): Instant {
  return others.reduce((most, instant) => (instant > most ? instant : most), first);
}

/** The second that was written last, and how: every line of an audit or a log has a time. */
let written = { second: Number.NaN, text: '' };

/** RFC 3339 in UTC with milliseconds, e.g. `2026-03-18T12:34:52.099Z`. */
export function toRfc3339(instant: Instant): string {
  const second = Math.floor(instant / 1_000);
  if (second !== written.second) written = { second, text: new Date(second * 1_000).toISOString().slice(0, -4) };
  return `${written.text}${String(Math.floor(instant) - second * 1_000).padStart(3, '0')}Z`;
}

/** Reads an HTTP date (RFC 9110 section 5.6.7, IMF-fixdate); undefined when it is not one. */
export function parseHttpDate(text: string): Instant | undefined {
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const epochMs = Date.parse(text);
  return Number.isNaN(epochMs) ? undefined : instantFromEpochMs(epochMs);
}
