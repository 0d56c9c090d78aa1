import { formatDuration } from '#libs/clock';
import { longestWindowMs } from '#libs/session';
import type { SimulationLog, SimulationSetup } from './simulation.js';

/** More than this takes longer than anyone waits, and shows nothing new. */
export const MAX_RENEWALS = 20_000;
/** The most lifetimes in a run that is replayed for advice, some thirty times at most. */
export const MAX_RENEWALS_TO_REPEAT = 2_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Between two attempts after many failures, including jitter. */
const MAX_PAUSE_MS = 1.25 * HOUR_MS;

/** An outage that does not end within the run is only partly played, and the figures would look too good. */
export function outageWarning(
  log: Pick<SimulationLog, 'outageEndsAtMs' | 'heldUpAtMs'>,
  { behaviour, durationMs, settings }: Pick<SimulationSetup, 'behaviour' | 'durationMs' | 'settings'>,
): { readonly notPlayed?: string } {
  const { outageMs, lifetimeMs, failureShare, latencyMs } = behaviour;
  const { outageEndsAtMs, heldUpAtMs } = log;
  if (outageMs === 0 || (outageEndsAtMs !== undefined && outageEndsAtMs <= durationMs)) return {};
  const beganAtMs = (outageEndsAtMs ?? Infinity) - outageMs;
  const isHeldUp = heldUpAtMs.some((atMs) => atMs < beganAtMs);
  const outage = `the outage of ${formatDuration(outageMs)}`;
  // The outage begins with the first renewal after half of the run: a lifetime later, or even later if something
  // prevents a renewal.
  const mayFail = failureShare > 0 || 1.5 * latencyMs > settings.gatewayTimeoutMs;
  const withoutBudgetMs = 2 * (outageMs + lifetimeMs + (mayFail ? MAX_PAUSE_MS : 0));
  if (isHeldUp && withoutBudgetMs <= durationMs) {
    const part = outageEndsAtMs === undefined ? 'not played' : 'not played to its end';
    return {
      notPlayed: `${outage} was ${part}: it begins with the first renewal after half of the run, and session.budget, which was spent, held that up: play it without --outage first, and with what that advises`,
    };
  }
  const neededMs = withoutBudgetMs + (isHeldUp ? 2 * longestWindowMs(settings.budget) : 0);
  const problem =
    outageEndsAtMs === undefined ? 'was not played, because nothing was renewed after half of it' : 'outlasts the run';
  return { notPlayed: `${outage} ${problem}: ${longerRun(Math.max(neededMs, durationMs + 1), lifetimeMs)}` };
}

function longerRun(neededMs: number, lifetimeMs: number): string {
  const stepMs = neededMs > DAY_MS ? DAY_MS : HOUR_MS;
  const durationMs = Math.ceil(neededMs / stepMs) * stepMs;
  return durationMs > MAX_RENEWALS * lifetimeMs
    ? `no run of ${MAX_RENEWALS} lifetimes, which is the most, holds it`
    : `give --for ${formatDuration(durationMs)}`;
}
