import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { changed } from './change.js';
import { sufficientLead, tryChanges } from './changes.js';
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
        ({ changes: [first, second], effect }) => first?.of === 'lead' && second === undefined && effect === 'shortens',
      );
      const isAnyBetter = Math.min(...left) <= 0.9 * before.withoutSessionMs;
      expect(named.map(({ lostMs }) => lostMs)).toEqual(isAnyBetter ? [Math.min(...left)] : []);
    }
  });

  it('end with sessions of eight times the length, where those of four have a gap', async () => {
    const run: SimulationSetup = {
      ...{ ...setup, replicas: 3, seed: 1, durationMs: 24 * HOUR_MS },
      settings: someSettings({
        budget: [
          { calls: 20, perMs: 10 * MINUTE_MS },
          { calls: 60, perMs: 24 * HOUR_MS },
        ],
        gatewayTimeoutMs: 2_000,
      }),
      behaviour: { ...setup.behaviour, outageMs: HOUR_MS },
    };
    const told = await tryChanges(run, await played(run));
    expect(told.filter(bridges).map(({ changes }) => changes)).toEqual([[{ of: 'lifetime', lifetimeMs: 8 * HOUR_MS }]]);
  }, 60_000);

  it('bridge with other seeds, too, where calls fail by chance', async () => {
    const unsteady = { ...setup, behaviour: { ...setup.behaviour, failureShare: 0.5, outageMs: 0 } };
    const run = changed(unsteady, [{ of: 'lead', share: 0.1 }]);
    expect(seedsOf(run).map(({ seed }) => seed)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(seedsOf(setup)).toEqual([setup]);
    const before = { ...(await played(run)), withoutSessionMs: 60_000 };
    const bridging = (await tryChanges(run, before)).filter(bridges);
    expect(bridging).not.toEqual([]);
    for (const { changes } of bridging) {
      const figures = await Promise.all(seedsOf(changed(run, changes)).map(played));
      expect(figures.map(({ withoutSessionMs }) => withoutSessionMs)).toEqual(Array(10).fill(0));
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

  it('are not judged by what chance decides: a look of the replicas, and the pause in which an outage ends', async () => {
    const before = await played({ ...setup, behaviour: { ...setup.behaviour, outageMs: 0 } });
    const effect = (wasMs: number, isMs: number, pauseMs = 0): string =>
      effectOf(
        { ...before, withoutSessionMs: wasMs },
        { ...before, withoutSessionMs: isMs, ...(pauseMs > 0 && { afterOutage: { gapMs: pauseMs, by: 'back_off' } }) },
      );
    expect([effect(200, 900), effect(900, 200), effect(900, 0)]).toEqual(['none', 'none', 'bridges']);
    expect([effect(100_000, 150_000, 60_000), effect(100_000, 150_000, 10_000)]).toEqual(['none', 'lengthens']);
  });

  describe('of an outage that spends the calls of a longer lead', () => {
    const spending: SimulationSetup = {
      ...{ ...setup, durationMs: 24 * HOUR_MS, behaviour: { ...setup.behaviour, outageMs: 30 * MINUTE_MS } },
      settings: someSettings({
        budget: [
          { calls: 20, perMs: 10 * MINUTE_MS },
          { calls: 60, perMs: 24 * HOUR_MS },
        ],
        gatewayTimeoutMs: 10_000,
      }),
    };

    it('are told with all that they lose, and not with what a run has lost that was cut short', async () => {
      const told = await tryChanges(spending, await played(spending));
      const longest = told.find(({ changes }) => changes.length === 1 && changes[0]?.of === 'lead');
      const whole = await played(changed(spending, longest?.changes ?? []));
      expect(longest).toMatchObject({ changes: [{ share: 0.5 }], effect: 'lengthens' });
      expect(longest?.lostMs).toBe(whole.withoutSessionMs);
      expect(longest?.figures).toEqual(whole);
      expect(told.filter(({ isCutShort }) => isCutShort)).toEqual([]);
    }, 60_000);

    it('have both, the lead and calls enough for shorter pauses, also where that leaves some of the gap', async () => {
      const before = await played(spending);
      const pair = (await tryChanges(spending, before)).find(({ changes }) => changes.length === 2);
      expect(pair).toMatchObject({
        effect: 'shortens',
        changes: [
          { of: 'lead', share: 0.5 },
          { of: 'budget', windows: [{ perMs: 10 * MINUTE_MS }, { perMs: 24 * HOUR_MS }] },
        ],
      });
      expect(pair?.lostMs).toBeLessThan(before.withoutSessionMs / 2);
      expect((await played(changed(spending, pair?.changes ?? []))).withoutSessionMs).toBe(pair?.lostMs);
      // No pause is longer for a window of minutes: of that one the calls which were used are enough.
      const isTwiceWhatWasUsed = pair?.figures.budget.map(({ calls, used }) => calls >= 2 * used);
      expect(isTwiceWhatWasUsed).toEqual([false, true]);
    }, 60_000);
  });

  it('are lead times that the configuration takes, and longer than the margin that is kept', async () => {
    const leads = async (run: SimulationSetup): Promise<readonly number[]> => {
      const before = { ...(await played(run)), withoutSessionMs: 1, budgetRefusals: 0 };
      return (await tryChanges(run, before)).flatMap(({ changes: [change] }) =>
        change?.of === 'lead' ? [change.share] : [],
      );
    };
    const calm = (change: Partial<SimulationSetup['settings']>): SimulationSetup => ({
      ...{ ...setup, behaviour: { ...setup.behaviour, outageMs: 0 } },
      settings: someSettings({
        renewBefore: { kind: 'duration', durationMs: MINUTE_MS },
        gatewayTimeoutMs: 1_000,
        ...change,
      }),
    });
    const margin = (durationMs: number): Partial<SimulationSetup['settings']> => ({
      safetyMargin: { kind: 'duration', durationMs },
    });
    expect(await leads(calm({}))).toEqual([0.1]);
    expect(await leads(calm(margin(30_000)))).toEqual([0.05]);
    expect(await leads(calm(margin(15 * MINUTE_MS)))).toEqual([0.3]);
    const hasty = calm({ gatewayTimeoutMs: 50_000, renewBefore: { kind: 'duration', durationMs: MINUTE_MS } });
    expect(await sufficientLead(hasty)).toBe(0.1);
  });
});
