import { formatDuration } from '#libs/clock';
import type { CreateCallWindow } from '#libs/session';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** In an outage and what follows it, less than this is not worth reporting: it is a look or two of the replicas. */
export const WORTH_TELLING_MS = 5_000;

/** Such as `13h 38m`, because nobody reads 49091s. */
export function hours(durationMs: number): string {
  const minutes = Math.round(Math.abs(durationMs) / MINUTE_MS);
  const rest = minutes % 60 === 0 ? '' : ` ${minutes % 60}m`;
  return `${durationMs < 0 ? '-' : ''}${Math.floor(minutes / 60)}h${rest}`;
}

/** To the second, such as `18m 14s`; from an hour on, to the minute. More than zero is never shown as `0s`. */
export function seconds(durationMs: number): string {
  const rounded = Math.round(durationMs / 1_000) * 1_000;
  if (rounded === 0 && durationMs > 0) return 'less than a second';
  if (Math.abs(rounded) >= HOUR_MS) return hours(rounded);
  const overMs = Math.abs(rounded) % MINUTE_MS;
  const minutesMs = Math.abs(rounded) - overMs;
  const parts = [minutesMs, overMs].filter((ms) => ms > 0).map(formatDuration);
  return `${rounded < 0 ? '-' : ''}${parts.length === 0 ? '0s' : parts.join(' ')}`;
}

const ROUND_STEPS_MS = [24 * HOUR_MS, HOUR_MS, 10 * MINUTE_MS];

/** At least as long, in a unit that people write. If possible, less than a quarter is added. */
export function roundedUp(durationMs: number): number {
  const stepMs = ROUND_STEPS_MS.find((each) => 4 * each <= durationMs) ?? MINUTE_MS;
  return Math.ceil(durationMs / stepMs) * stepMs;
}

/** `all` if the part reads the same as the whole. */
export const partOf = (partMs: number, wholeMs: number): string =>
  seconds(partMs) === seconds(wholeMs) ? 'all' : seconds(partMs);

export const inWindow = ({ calls, perMs }: CreateCallWindow): string => `${calls} in ${formatDuration(perMs)}`;

/** Such as `52 of 60 in 1d, which leaves 8 for calls that fail`. */
export const leftForFailures = ({ needed, ...window }: CreateCallWindow & { readonly needed: number }): string =>
  `${needed} of ${inWindow(window)}, which leaves ${Math.max(0, window.calls - needed)} for calls that fail`;

/** Such as `4.3`: a single call more is much if there are few. */
export const callsADay = (calls: number): string => String(Number(calls.toFixed(calls < 10 ? 1 : 0)));

export const percent = (share: number): string => `${Math.round(share * 100)}%`;
