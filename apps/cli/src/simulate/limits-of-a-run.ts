import { formatDuration } from '#libs/clock';
import type { ScheduleFigures } from './figures.js';
import type { SimulationLog } from './simulation.js';

interface PlayedRun {
  readonly durationMs: number;
  readonly outageMs: number;
  readonly lifetimeMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** An outage that the run does not hold is played in part: what the figures say of it would be too good. */
export function outageWarning(
  { outageEndsAtMs }: Pick<SimulationLog, 'outageEndsAtMs'>,
  { durationMs, outageMs, lifetimeMs }: PlayedRun,
): { readonly notPlayed?: string } {
  if (outageMs === 0 || (outageEndsAtMs !== undefined && outageEndsAtMs <= durationMs)) return {};
  const outage = `the outage of ${formatDuration(outageMs)}`;
  // It begins with the first renewal after half of the run, which is at most a lifetime later.
  const advice = `give --for ${roundedUp(2 * (outageMs + lifetimeMs))}`;
  const problem =
    outageEndsAtMs === undefined ? 'was not played, because nothing was renewed after half of it' : 'outlasts the run';
  return { notPlayed: `${outage} ${problem}: ${advice}` };
}

function roundedUp(durationMs: number): string {
  const stepMs = durationMs > DAY_MS ? DAY_MS : HOUR_MS;
  return formatDuration(Math.ceil(durationMs / stepMs) * stepMs);
}

/** Then nothing else is to blame: each other warning would only follow from it. */
export function callsWarning({
  sessions,
  createCalls,
  failures,
}: Pick<ScheduleFigures, 'sessions' | 'createCalls' | 'failures'>): string | undefined {
  if (sessions > 0 || createCalls === 0) return undefined;
  const helpless = (failures['timeout'] ?? 0) === 0 ? 'no setting helps' : 'no lead time or lifetime helps';
  return `every create call failed; ${helpless}`;
}
