import fc from 'fast-check';
import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { warningsOf } from './advice.js';
import { changed } from './change.js';
import { tryChanges } from './changes.js';
import { effectOf, isLonger, lostIn } from './effect.js';
import { figuresOf, type ScheduleFigures } from './figures.js';
import type { Judged } from './judged.js';
import { simulate, type SimulationSetup } from './simulation.js';
import { otherRuns } from './situations.js';
import { textOf } from './wording.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const figures = async (setup: SimulationSetup): Promise<ScheduleFigures> =>
  figuresOf(await simulate(setup), setup.durationMs, setup.settings);

/** A few hours of short sessions: as much happens in them as in a day of long ones. */
const setups: fc.Arbitrary<SimulationSetup> = fc
  .record({
    calls: fc.integer({ min: 5, max: 60 }),
    lifetimeMs: fc.integer({ min: 5, max: 40 }).map((minutes) => minutes * MINUTE_MS),
    share: fc.integer({ min: 10, max: 50 }).map((percent) => percent / 100),
    outageMs: fc.integer({ min: 0, max: 15 }).map((minutes) => minutes * MINUTE_MS),
    failureShare: fc.integer({ min: 0, max: 6 }).map((tenths) => tenths / 10),
    latencyMs: fc.constantFrom(300, 300, 300, 4_000, 6_000),
    seed: fc.integer({ min: 0, max: 1_000 }),
  })
  .map(({ calls, share, seed, ...behaviour }) => ({
    merchant: 'shop',
    startsAt: instantFromEpochMs(Date.parse('2026-10-20T00:00:00Z')),
    settings: someSettings({
      budget: [{ calls, perMs: 4 * HOUR_MS }],
      renewBefore: { kind: 'share', share },
      gatewayTimeoutMs: 5_000,
    }),
    behaviour,
    replicas: 1,
    durationMs: 6 * HOUR_MS,
    seed,
  }));

const never = (): never => {
  throw new Error('each run has figures');
};

describe('the advice of a simulation', () => {
  it('names a change as one that helps, or that does not, exactly as the same runs with it show', async () => {
    const effects = new Set<string>();
    await fc.assert(
      fc.asyncProperty(setups, async (setup) => {
        const runs = [setup, ...otherRuns(setup).slice(0, 3)];
        const before = await Promise.all(runs.map(figures));
        const { tried } = await tryChanges(
          runs.map((run, index) => ({ setup: run, figures: before[index] ?? never() })),
        );
        const isOfSessions = before.some(({ withoutSessionMs }) => withoutSessionMs > 0);
        const lost = (all: readonly ScheduleFigures[]): readonly number[] =>
          all.map((one) => lostIn(one, isOfSessions));
        for (const { changes, effect, runs: played, longerRuns } of tried) {
          const wasMs = lost(before);
          const isMs = lost(await Promise.all(runs.map((run) => figures(changed(run, changes)))));
          const compared = wasMs.map((was, index) => ({ wasMs: was, isMs: isMs[index] ?? NaN }));
          // A change that bridged these runs was played in further ones, and counts those that it does not bridge.
          const isWhole = played === runs.length;
          if (isWhole)
            expect({ effect, longerRuns }).toEqual({
              effect: effectOf(compared),
              longerRuns: compared.filter(isLonger).length,
            });
          if (effect === 'bridges' || !isWhole) expect(Math.max(...isMs)).toBe(0);
          if (effect === 'shortens') expect(Math.max(...isMs)).toBeLessThan(Math.max(...wasMs));
          effects.add(effect);
        }
      }),
      { numRuns: 12, seed: 7 },
    );
    expect([...effects].sort()).toEqual(expect.arrayContaining(['bridges', 'shortens']));
  });

  it('says that a longer lead needs more calls than are allowed only where the run with it shows so', async () => {
    await fc.assert(
      fc.asyncProperty(setups, async (setup) => {
        const calm = { ...setup, behaviour: { ...setup.behaviour, failureShare: 0, outageMs: 0, latencyMs: 300 } };
        const before = await figures(setup);
        const judged: Judged = { setup, figures: before, tried: [] };
        if (
          !warningsOf(judged)
            .map(({ wording }) => textOf(wording))
            .some((warning) => warning.includes('needs more calls than session.budget'))
        )
          return;
        const longest = await figures(changed(calm, [{ of: 'lead', share: 0.5 }]));
        expect(longest.budget.some(({ needed, calls }) => needed > calls)).toBe(true);
      }),
      { numRuns: 12, seed: 11 },
    );
  });
});
