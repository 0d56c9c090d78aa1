import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { changed } from './change.js';
import { tryChanges } from './changes.js';
import type { SimulationSetup } from './simulation.js';
import { bridges, effectOf, played, seedsOf } from './trials.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LEADS = [0.1, 0.2, 0.3, 0.4, 0.5];

/** An outage that no lead time bridges, of a few sessions. */
const setup: SimulationSetup = {
  ...{ merchant: 'shop', startsAt: instantFromEpochMs(0), replicas: 1, durationMs: 6 * HOUR_MS, seed: 2 },
  settings: someSettings({ budget: [{ calls: 200, perMs: 24 * HOUR_MS }], renewBefore: { kind: 'share', share: 0.2 } }),
  behaviour: { lifetimeMs: HOUR_MS, latencyMs: 300, failureShare: 0, outageMs: 50 * MINUTE_MS },
};

describe('the changes that are tried', () => {
  it('name no lead time that is worse than another one, longer or shorter', async () => {
    for (const share of [0.2, 0.4]) {
      const run = changed(setup, [{ of: 'lead', share }]);
      const before = await played(run);
      const left = await Promise.all(
        LEADS.map(async (lead) => (await played(changed(run, [{ of: 'lead', share: lead }]))).withoutSessionMs),
      );
      const named = (await tryChanges(run, before)).filter(
        ({ changes: [first], effect }) => first?.of === 'lead' && effect === 'shortens',
      );
      const isAnyBetter = Math.min(...left) <= 0.9 * before.withoutSessionMs;
      expect(named.map(({ lostMs }) => lostMs)).toEqual(isAnyBetter ? [Math.min(...left)] : []);
    }
  });

  it('bridge with other seeds, too, where calls fail by chance', async () => {
    const unsteady = { ...setup, behaviour: { ...setup.behaviour, failureShare: 0.5, outageMs: 0 } };
    const run = changed(unsteady, [{ of: 'lead', share: 0.1 }]);
    expect(seedsOf(run).map(({ seed }) => seed)).toEqual([2, 3, 4]);
    expect(seedsOf(setup)).toEqual([setup]);
    const before = { ...(await played(run)), withoutSessionMs: 60_000 };
    const bridging = (await tryChanges(run, before)).filter(bridges);
    expect(bridging).not.toEqual([]);
    for (const { changes } of bridging) {
      const figures = await Promise.all(seedsOf(changed(run, changes)).map(played));
      expect(figures.map(({ withoutSessionMs }) => withoutSessionMs)).toEqual([0, 0, 0]);
    }
  });

  it('are told apart by what they leave: nothing, less, about as much, more', async () => {
    const before = { ...(await played(setup)), withoutSessionMs: 100_000 };
    const leaving = (withoutSessionMs: number): string => effectOf(before, { ...before, withoutSessionMs });
    expect([0, 80_000, 95_000, 105_000, 120_000].map(leaving)).toEqual([
      ...['bridges', 'shortens', 'none', 'none', 'lengthens'],
    ]);
    expect(effectOf({ ...before, withoutSessionMs: 0 }, before)).toBe('lengthens');
  });
});
