import { formatDuration } from '#libs/clock';
import type { CreateCallWindow } from '#libs/session';

/** Such as `18m 14s`; from an hour on, to the minute. More than zero is never shown as `0s`. */
export function seconds(durationMs: number): string {
  const exact = Math.round(durationMs / 1_000);
  if (exact === 0) return durationMs > 0 ? 'less than a second' : '0s';
  const rounded = exact < 3_600 ? exact : 60 * Math.round(exact / 60);
  const parts = [
    `${Math.floor(rounded / 3_600)}h`,
    `${Math.floor((rounded % 3_600) / 60)}m`,
    `${rounded % 60}s`,
  ].filter((part) => !part.startsWith('0'));
  return parts.join(' ');
}

export const inWindow = ({ calls, perMs }: CreateCallWindow): string => `${calls} in ${formatDuration(perMs)}`;
