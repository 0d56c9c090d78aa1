import { changed, isOfLead } from './change.js';
import type { SimulationSetup } from './simulation.js';
import { type CalmRun, isBetter, played, type Tried } from './trials.js';

/**
 * Counts what a lead time costs if it is not the only thing that decides how often sessions are renewed, because of
 * quiet hours or `session.renewEvery`.
 */
export async function withCalmCalls(setup: SimulationSetup, found: readonly Tried[]): Promise<readonly Tried[]> {
  const { quietHours, renewEveryMs } = setup.settings;
  if (quietHours === undefined && renewEveryMs === undefined) return found;
  const { behaviour } = setup;
  const calm = { ...setup, behaviour: { ...behaviour, failureShare: 0, outageMs: 0 } };
  const was = await playedCalm(calm);
  const told: Tried[] = [];
  for (const one of found) {
    const leads = one.changes.filter(isOfLead);
    const isTold = isBetter(one) && leads.length > 0;
    told.push(isTold ? { ...one, calm: { was, is: await playedCalm(changed(calm, leads)) } } : one);
  }
  return told;
}

async function playedCalm(setup: SimulationSetup): Promise<CalmRun> {
  const { createCalls, outsideQuietHours = 0 } = await played(setup);
  return { createCalls, outsideQuietHours };
}
