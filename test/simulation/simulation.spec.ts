import { plantedMistakes } from './planted-mistakes.js';
import { drawScenario } from './scenario.js';
import { simulate } from './simulation.js';

/** What a change breaks at once; `npm run simulate:faults` plays thousands. */
const SEEDS = 24;
const SEEDS_PER_MISTAKE = 60;
const run = { forMs: 60_000, replicas: 3 };

describe('replicas under seeded faults', () => {
  it(`keep every invariant in ${SEEDS} schedules`, async () => {
    const failed: unknown[] = [];
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { violation } = await simulate(drawScenario({ seed, ...run }));
      if (violation !== undefined) failed.push({ seed, ...violation });
    }
    expect(failed).toEqual([]);
  });

  it('do the same again for the same seed, to the last event', async () => {
    const scenario = drawScenario({ seed: 9, ...run });
    const first = await simulate(scenario);
    expect(first.trace.length).toBeGreaterThan(100);
    expect(await simulate(scenario)).toEqual(first);
  });
});

describe('the simulation', () => {
  it.each(plantedMistakes)('finds $name', async ({ breaks, options }) => {
    for (let seed = 1; seed <= SEEDS_PER_MISTAKE; seed += 1) {
      const { violation } = await simulate(drawScenario({ seed, ...run }), options);
      if (violation === undefined) continue;
      expect(violation.invariant).toBe(breaks);
      return;
    }
    throw new Error(`not found in ${SEEDS_PER_MISTAKE} schedules`);
  });
});
