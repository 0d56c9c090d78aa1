import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { optionsOf, otherRuns } from './situations.js';
import { simulate, type SimulationSetup } from './simulation.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const ample = someSettings({ budget: [{ calls: 1_000, perMs: DAY_MS }] });

const setup = (behaviour: Partial<SimulationSetup['behaviour']>, durationMs = 7 * DAY_MS): SimulationSetup => ({
  ...{ merchant: 'shop', startsAt: instantFromEpochMs(0), replicas: 1, seed: 1, durationMs },
  settings: someSettings({ budget: [{ calls: 60, perMs: DAY_MS }] }),
  behaviour: { lifetimeMs: HOUR_MS, latencyMs: 300, failureShare: 0, outageMs: 30 * MINUTE_MS, ...behaviour },
});

describe('the other runs of one', () => {
  it('have other seeds, and the outage in half of a window of the budget and after a whole one, in their own length, too', () => {
    const runs = otherRuns(setup({}));
    expect(new Set(runs.map(({ seed }) => seed)).size).toBe(runs.length);
    expect(new Set(runs.map(({ durationMs }) => durationMs))).toEqual(new Set([DAY_MS, 2.5 * DAY_MS, 7 * DAY_MS]));
  });

  it('hold the outage to its end', async () => {
    for (const lifetimeMs of [15 * MINUTE_MS, DAY_MS]) {
      for (const outageMs of [10 * MINUTE_MS, 8 * HOUR_MS]) {
        for (const run of otherRuns(setup({ lifetimeMs, outageMs }))) {
          const { outageEndsAtMs = Infinity } = await simulate({ ...run, settings: ample });
          expect(outageEndsAtMs).toBeLessThanOrEqual(run.durationMs);
        }
      }
    }
  });

  it('are fewer and shorter where a run has many sessions, and none where nothing is left to chance', () => {
    const long = otherRuns(setup({ lifetimeMs: 15 * MINUTE_MS }, 20 * DAY_MS));
    expect(long.length).toBeLessThan(otherRuns(setup({})).length);
    expect(Math.max(...long.map(({ durationMs }) => durationMs))).toBeLessThan(20 * DAY_MS);
    expect(otherRuns(setup({ outageMs: 0 }))).toEqual([]);
    expect(otherRuns(setup({ outageMs: 0, failureShare: 0.1 }))).not.toEqual([]);
  });

  it('are repeated with the options that are told', () => {
    expect(optionsOf({ durationMs: 2.5 * DAY_MS, seed: 3 }, 'shop')).toBe('--for 60h --seed 3 --merchant shop');
    expect(optionsOf({ durationMs: DAY_MS, seed: 4 })).toBe('--for 1d --seed 4');
  });
});
