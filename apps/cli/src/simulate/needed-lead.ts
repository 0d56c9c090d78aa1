import { LAST_ATTEMPT_TIMEOUTS, leadShareOf, MAX_USUAL_PAUSE_MS, safetyMarginMs } from '#libs/session';
import type { WindowFigures } from './figures.js';
import type { SimulationSetup } from './simulation.js';

type Run = Pick<SimulationSetup, 'settings' | 'behaviour'>;

/** The moment of a session that the next one has to come before. */
export type Limit = 'end' | 'margin';

/**
 * The least time before a session's end at which an outage may begin without harm: the length of the outage, plus the
 * longest pause that it may end in. A single run shows only the pauses of one outage, which may be shorter by chance.
 */
export function neededLeadMs({ settings, behaviour }: Run, limit: Limit): number {
  const marginMs = safetyMarginMs(settings, believedLifeMs({ settings, behaviour }));
  const lastAttemptMs = marginMs + LAST_ATTEMPT_TIMEOUTS * settings.gatewayTimeoutMs;
  const pauseMs = limit === 'margin' ? marginMs + MAX_USUAL_PAUSE_MS : MAX_USUAL_PAUSE_MS;
  return behaviour.outageMs + Math.max(pauseMs, lastAttemptMs);
}

/**
 * Whether the lead time alone bridges the outage. A session being renewed never has less time left than that, and with
 * quiet hours often more, so a run whose outage begins with a young session shows nothing about those that begin with
 * an old one.
 */
export function bridgesWhereverItBegins(
  { budget, ...run }: Run & { readonly budget: readonly WindowFigures[] },
  limit: Limit,
): boolean {
  const { outageMs } = run.behaviour;
  if (outageMs === 0) return true;
  // At worst, a window that is spent when the outage ends holds up the next call for its full length.
  const heldUpMs = Math.max(0, ...budget.filter(({ used, calls }) => used >= calls).map(({ perMs }) => perMs));
  const isOver = (perMs: number): boolean => perMs <= leastLeftMs(run);
  return leastLeftMs(run) >= Math.max(neededLeadMs(run, limit), isOver(heldUpMs) ? outageMs + heldUpMs : 0);
}

/**
 * Whether the budget still has enough calls if the pauses of an outage happen to be shorter, which costs more calls.
 */
export function hasCallsToSpare(run: Run, budget: readonly WindowFigures[]): boolean {
  return run.behaviour.outageMs === 0 || tightWindows(run, budget).length === 0;
}

/**
 * The windows that may be used up with another run's luck. A window that is over before the session ends counts for
 * nothing: the calls that it refuses are still made in time.
 */
export function tightWindows(run: Run, budget: readonly WindowFigures[]): readonly WindowFigures[] {
  return budget.filter(
    (window) => window.perMs > leastLeftMs(run) && window.used + callsOfChance(window) > window.calls,
  );
}

/**
 * How many more calls than were seen may fail in an outage with another seed: twice what such a count strays by, plus
 * one.
 */
export const callsOfChance = ({ used, needed }: Pick<WindowFigures, 'used' | 'needed'>): number =>
  used <= needed ? 0 : Math.ceil(2 * Math.sqrt(used - needed)) + 1;

/** The least time that a session has left when it is renewed. */
export function leastLeftMs({ settings, behaviour }: Run): number {
  const lifeMs = believedLifeMs({ settings, behaviour });
  const leadMs = Math.round(leadShareOf(lifeMs, settings) * lifeMs);
  return Math.max(leadMs, lifeMs - (settings.renewEveryMs ?? lifeMs));
}

/** No lifetime beyond `session.longestLifetime` is believed. */
export const believedLifeMs = ({ settings, behaviour }: Run): number =>
  Math.min(behaviour.lifetimeMs, settings.longestLifetimeMs);
