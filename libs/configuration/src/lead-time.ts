import { parseDurationMs } from '#libs/clock';
import type { LeadTime } from '#libs/session';

/** More than half of a life would renew twice as often as anyone needs, and each create call can break payments. */
export const LARGEST_SHARE = 0.5;

/** Reads `20%` or `90s`; undefined when it is neither, is nothing at all, or is more than half of the lifetime. */
export function parseLeadTime(text: string): LeadTime | undefined {
  const percentage = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text)?.[1];
  if (percentage !== undefined) {
    const share = Number(percentage) / 100;
    return share > 0 && share <= LARGEST_SHARE ? { kind: 'share', share } : undefined;
  }
  const durationMs = parseDurationMs(text);
  return durationMs !== undefined && durationMs > 0 ? { kind: 'duration', durationMs } : undefined;
}
