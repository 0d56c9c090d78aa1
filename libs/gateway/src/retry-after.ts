import { type Instant, msBetween, parseHttpDate } from '#libs/clock';

/** No answer can put a merchant off for longer than an hour. */
const MAX_MS = 3_600_000;

/**
 * Reads `Retry-After` (RFC 9110 section 10.2.3): delta seconds or an HTTP date.
 * @param asOf the clock of the header's sender, so that its date is read as it was meant
 * @returns milliseconds from 0 to an hour, or undefined when the text is neither
 */
export function parseRetryAfterMs(text: string, asOf: Instant): number | undefined {
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1_000, MAX_MS);
  const at = parseHttpDate(text);
  return at === undefined ? undefined : Math.min(Math.max(0, msBetween(asOf, at)), MAX_MS);
}
