import {
  type CreateCallBudget,
  type CreateCallWindow,
  LAST_ATTEMPT_TIMEOUTS,
  leadShareOf,
  MAX_USUAL_PAUSE_MS,
  safetyMarginMs,
} from '#libs/session';
import { failsByChance } from './chance.js';
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
  const leftMs = leastLeftMs(run);
  // Whether a window that is longer than the lead has calls to spare is another question.
  const spent = budget.filter((window) => window.perMs <= leftMs && maySpend(window, run, budget));
  return leftMs >= Math.max(neededLeadMs(run, limit), ...spent.map((window) => heldUpForMs(outageMs, window)));
}

/**
 * The longest time from the first call that an outage lets fail to one after it, if this window is spent: at worst, it
 * holds up the call after the outage for its full length. If it allows one call, the calls are as far apart as that.
 */
export const heldUpForMs = (outageMs: number, { calls, perMs }: CreateCallWindow): number =>
  calls === 1 ? perMs * Math.ceil(outageMs / perMs) + MAX_USUAL_PAUSE_MS : outageMs + perMs;

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
  return budget.filter((window) => window.perMs > leastLeftMs(run) && mostUsed(window, run, budget) > window.calls);
}

/** With another run's luck, and no more than the whole budget lets fail. */
function mostUsed(window: WindowFigures, run: Run, budget: CreateCallBudget): number {
  const mostFailing = failsByChance(run) ? Infinity : mostCallsIn(run.behaviour.outageMs, budget);
  return Math.max(window.used, Math.min(window.used + callsOfChance(window), window.needed + mostFailing));
}

/** Whether a call may be refused because of this window, with another run's luck. */
const maySpend = (window: WindowFigures, run: Run, budget: CreateCallBudget): boolean =>
  window.used >= window.calls || mostUsed(window, run, budget) > window.calls;

/** The most calls that the budget lets fail in an outage of this length. */
export const mostCallsIn = (outageMs: number, budget: CreateCallBudget): number =>
  Math.min(...budget.map(({ calls, perMs }) => calls * (Math.floor(outageMs / perMs) + 1)));

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

/** The lead time that a run is played with, as a share of the lifetime. */
export const currentLeadShare = (run: Run): number => leadShareOf(believedLifeMs(run), run.settings);
