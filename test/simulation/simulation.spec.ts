import { drawScenario } from './draw-scenario.js';
import type { Violation } from './judge.js';
import { plantedMistakes } from './planted-mistakes.js';
import { regressionCases } from './regression-cases.js';
import type { Fault, Scenario } from './scenario.js';
import { shrink } from './shrink.js';
import { simulate, type SimulationOptions } from './simulation.js';

/** What a change breaks at once; `npm run simulate:faults` plays thousands. */
const SEEDS = 24;
const SEEDS_PER_MISTAKE = 60;
const run = { forMs: 60_000, replicas: 3 };

async function violationOf(scenario: Scenario, options?: SimulationOptions): Promise<Violation | undefined> {
  return (await simulate(scenario, options)).violation;
}

describe('replicas under seeded faults', () => {
  it(`keep every invariant in ${SEEDS} schedules`, async () => {
    const failed: unknown[] = [];
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const violation = await violationOf(drawScenario({ seed, ...run }));
      if (violation !== undefined) failed.push({ seed, ...violation });
    }
    expect(failed).toEqual([]);
  });

  it('do the same again for the same seed, to the last event', async () => {
    const scenario = drawScenario({ seed: 7, ...run });
    const first = await simulate(scenario, { keepsTrace: true });
    const second = await simulate(scenario, { keepsTrace: true });
    expect(first.trace.length).toBeGreaterThan(100);
    expect(second.trace).toEqual(first.trace);
    expect(second.figures).toEqual(first.figures);
  });

  it.each(regressionCases())('have not unlearned $name', async ({ scenario }) => {
    expect(await violationOf(scenario)).toBeUndefined();
  });
});

describe('the simulation', () => {
  it.each(plantedMistakes)('finds $name', async ({ breaks, options }) => {
    for (let seed = 1; seed <= SEEDS_PER_MISTAKE; seed += 1) {
      const violation = await violationOf(drawScenario({ seed, ...run }), options);
      if (violation === undefined) continue;
      expect(violation.invariant).toBe(breaks);
      return;
    }
    throw new Error(`not found in ${SEEDS_PER_MISTAKE} schedules`);
  });

  it('shrinks a schedule to the faults that matter', async () => {
    const harmless: Fault = {
      kind: 'forged_hint',
      atMs: 3_000,
      lastsMs: 0,
      whom: 'all',
      merchant: 'shop',
      hint: 'none',
    };
    const harmful: Fault = { kind: 'crash', atMs: 9_000, lastsMs: 4_000, whom: 1 };
    const scenario = { ...drawScenario({ seed: 1, ...run }), faults: [harmless, harmful] };
    const play = async ({ faults }: Scenario): Promise<Violation | undefined> =>
      faults.some(({ kind }) => kind === 'crash')
        ? { invariant: 'nothing is broken', atMs: 9_500, detail: 'planted' }
        : undefined;
    const shrunk = await shrink(scenario, { invariant: 'nothing is broken', atMs: 9_500, detail: 'planted' }, play);
    expect(shrunk.faults).toEqual([{ ...harmful, lastsMs: 62 }]);
    expect(shrunk.forMs).toBe(10_000);
  });
});
