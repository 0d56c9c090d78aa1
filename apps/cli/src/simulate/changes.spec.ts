import { instantFromEpochMs } from '#libs/clock';
import type { CreateCallBudget } from '#libs/session';
import { someSettings } from '#libs/testing';
import { ampleBudgets } from './budgets.js';
import { changed, kindOf } from './change.js';
import { sufficientLead, tryChanges } from './changes.js';
import { isLonger } from './effect.js';
import type { SimulationSetup } from './simulation.js';
import { furtherRuns, otherRuns } from './situations.js';
import { bridges, isBetter, played, type PlayedRun, type Tried, Trials } from './trials.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A run of a few sessions, with an outage that no lead time bridges. */
const setup: SimulationSetup = {
  ...{ merchant: 'shop', startsAt: instantFromEpochMs(0), replicas: 1, durationMs: 6 * HOUR_MS, seed: 2 },
  settings: someSettings({ budget: [{ calls: 200, perMs: 24 * HOUR_MS }], renewBefore: { kind: 'share', share: 0.2 } }),
  behaviour: { lifetimeMs: HOUR_MS, latencyMs: 300, failureShare: 0, outageMs: 50 * MINUTE_MS },
};

/** The same run has the same figures: each is played once. */
const figuresByRun = new Map<string, ReturnType<typeof played>>();

function playedOnce(run: SimulationSetup): ReturnType<typeof played> {
  const key = JSON.stringify(run);
  const figures = figuresByRun.get(key) ?? played(run);
  figuresByRun.set(key, figures);
  return figures;
}

const playedIn = async (runs: readonly SimulationSetup[]): Promise<readonly PlayedRun[]> =>
  Promise.all(runs.map(async (run) => ({ setup: run, figures: await playedOnce(run) })));

const tryIn = async (run: SimulationSetup): Promise<readonly Tried[]> =>
  (await tryChanges(await playedIn([run, ...otherRuns(run)]))).tried;

const gapsWith = async (run: SimulationSetup, changes: Tried['changes']): Promise<readonly number[]> =>
  (await playedIn([run, ...otherRuns(run)].map((one) => changed(one, changes)))).map(
    ({ figures }) => figures.withoutSessionMs,
  );

/** With these there is no room for another window, so none with fewer calls at once. */
const full: CreateCallBudget = [2, 3].map((hours) => ({ calls: 1_000, perMs: hours * HOUR_MS }));

describe('the changes that are tried', () => {
  it('name none as one that helps that makes the longest gap longer, and count the runs that it makes longer', async () => {
    for (const share of [0.2, 0.4]) {
      const run = changed(setup, [{ of: 'lead', share }]);
      const without = await gapsWith(run, []);
      const named = (await tryIn(run)).filter(({ effect }) => effect === 'shortens');
      expect(named).not.toEqual([]);
      for (const { changes, leastLostMs, lostMs, longerRuns } of named) {
        const gaps = await gapsWith(run, changes);
        expect(lostMs).toBeLessThan(0.95 * Math.max(...without));
        const longer = gaps.filter((isMs, index) => isLonger({ wasMs: without[index] ?? 0, isMs }));
        expect(longer).toHaveLength(longerRuns);
        expect([Math.min(...gaps), Math.max(...gaps)]).toEqual([leastLostMs, lostMs]);
      }
    }
  });

  it('tell the kinds of which none helps, and no kind that was not tried', async () => {
    const before = await playedIn([setup, ...otherRuns(setup)]);
    const { tried, inVain, outdone } = await tryChanges(before);
    const helping = tried.filter(isBetter).map(({ changes }) => kindOf(changes));
    expect(inVain.filter((kind) => helping.includes(kind))).toEqual([]);
    // It bridges nothing: that it leaves as little as a lead with fewer calls at once does not make it as good.
    expect(outdone).toEqual([]);
    expect([...helping, ...inVain].sort()).toEqual(['budget', 'lead', 'leadWithBudget', 'lifetime', 'pace']);
    const bridged = changed(setup, [{ of: 'lifetime', lifetimeMs: 4 * HOUR_MS }]);
    const short = { ...bridged, durationMs: 24 * HOUR_MS };
    expect((await tryChanges(await playedIn([short, ...otherRuns(short)]))).inVain).not.toContain('lifetime');
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
    const told = await tryIn(run);
    expect(told.filter(bridges).map(({ changes }) => changes)).toEqual([[{ of: 'lifetime', lifetimeMs: 8 * HOUR_MS }]]);
  });

  it.each([
    [15, 2 * HOUR_MS],
    [30, 4 * HOUR_MS],
  ])(
    'name the longest lead and the sessions that leave the least of an hour, where those of %d minutes have a gap',
    async (minutes, longestMs) => {
      const run: SimulationSetup = {
        ...{ ...setup, replicas: 3, seed: 1, durationMs: 24 * HOUR_MS },
        settings: someSettings({ budget: [{ calls: 20, perMs: 10 * MINUTE_MS }], gatewayTimeoutMs: 2_000 }),
        behaviour: { ...setup.behaviour, lifetimeMs: minutes * MINUTE_MS, outageMs: HOUR_MS },
      };
      const told = await tryIn(run);
      expect(told).toMatchObject([
        { changes: [{ of: 'lead', share: 0.5 }], effect: 'shortens' },
        { changes: [{ of: 'lifetime', lifetimeMs: longestMs }], effect: 'shortens' },
      ]);
    },
  );

  it('bridge with other seeds, too, where calls fail by chance', async () => {
    const unsteady = { ...setup, behaviour: { ...setup.behaviour, failureShare: 0.5, outageMs: 0 } };
    const run = changed(unsteady, [{ of: 'lead', share: 0.1 }]);
    expect(otherRuns(run).map(({ seed }) => seed)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const [own, ...others] = await playedIn([run, ...otherRuns(run)]);
    if (own === undefined) throw new Error('the run was played');
    const before = [{ ...own, figures: { ...own.figures, withoutSessionMs: 60_000 } }, ...others];
    const bridging = (await tryChanges(before)).tried.filter(bridges);
    expect(bridging).not.toEqual([]);
    for (const { changes, runs, isSure } of bridging) {
      expect(await gapsWith(run, changes)).toEqual(Array(10).fill(0));
      expect({ runs, isSure }).toEqual({ runs: 28, isSure: false });
    }
  });

  it('bridge no gap that they are seen to leave in further runs, where calls fail by chance', async () => {
    const budget = [
      { calls: 20, perMs: 10 * MINUTE_MS },
      { calls: 60, perMs: 24 * HOUR_MS },
    ];
    const run: SimulationSetup = {
      ...{ ...setup, replicas: 3, durationMs: 24 * HOUR_MS, seed: 1, settings: someSettings({ budget }) },
      behaviour: { lifetimeMs: 8 * HOUR_MS, latencyMs: 300, failureShare: 0.2, outageMs: 2 * HOUR_MS },
    };
    const lost = async (runs: readonly SimulationSetup[], changes: Tried['changes']): Promise<number> =>
      (await playedIn(runs.map((one) => changed(one, changes)))).reduce(
        (sum, { figures }) => sum + figures.withoutSessionMs,
        0,
      );
    const spared: Tried['changes'] = [{ of: 'lead', share: 0.3 }];
    expect(await lost([run, ...otherRuns(run)], spared)).toBe(0);
    expect(await lost(furtherRuns(run), spared)).toBeGreaterThan(HOUR_MS);
    const bridging = (await tryIn(run)).filter(bridges);
    expect(bridging).not.toEqual([]);
    for (const { changes } of bridging) {
      expect(changes).not.toEqual(spared);
      expect(await lost(furtherRuns(run), changes)).toBe(0);
    }
  });

  describe('of an outage that spends the calls of a longer lead', () => {
    const spending: SimulationSetup = {
      ...{ ...setup, durationMs: 24 * HOUR_MS, behaviour: { ...setup.behaviour, outageMs: 30 * MINUTE_MS } },
      settings: someSettings({
        budget: [{ calls: 20, perMs: 11 * MINUTE_MS }, { calls: 60, perMs: 24 * HOUR_MS }, ...full],
        gatewayTimeoutMs: 10_000,
      }),
    };

    it('are told with how much longer the lead alone may make it', async () => {
      const told = await tryIn(spending);
      const longest = told.find(({ changes }) => changes.length === 1 && changes[0]?.of === 'lead');
      expect(longest).toMatchObject({ changes: [{ share: 0.5 }], effect: 'may_lengthen' });
      expect(longest?.lostMs).toBe(Math.max(...(await gapsWith(spending, longest?.changes ?? []))));
    });

    it('have both, the lead and calls enough for shorter pauses, also where that leaves some of the gap', async () => {
      const without = await gapsWith(spending, []);
      const pair = (await tryIn(spending)).find(({ changes }) => changes.length === 2);
      expect(pair).toMatchObject({
        effect: 'shortens',
        changes: [
          { of: 'lead', share: 0.5 },
          { of: 'budget', windows: [{ perMs: 11 * MINUTE_MS }, { perMs: 24 * HOUR_MS }, {}, {}] },
        ],
      });
      expect(pair?.lostMs).toBeLessThan(Math.min(...without) / 2);
      // A window of minutes makes no pause longer, so the calls that were used are enough for it.
      const isTwiceWhatWasUsed = pair?.figures.budget.slice(0, 2).map(({ calls, used }) => calls >= 2 * used);
      expect(isTwiceWhatWasUsed).toEqual([false, true]);
    });

    it('are more calls alone, as many as the runs take without a limit, and two and four times as many', async () => {
      const short = {
        ...{ ...spending, behaviour: { ...spending.behaviour, lifetimeMs: 15 * MINUTE_MS } },
        settings: someSettings({ budget: [{ calls: 150, perMs: 24 * HOUR_MS }], gatewayTimeoutMs: 2_000 }),
      };
      const tried = await ampleBudgets(new Trials(await playedIn([short, ...otherRuns(short)])), []);
      const [ample = 0, ...more] = tried.map(({ windows: [window] }) => window?.calls ?? 0);
      expect(ample).toBeGreaterThan(150);
      expect(more).toEqual([2 * ample, Math.min(1_000, 4 * ample)]);
    });
  });

  const ofAnHour = (budget: CreateCallBudget, behaviour: object = {}): SimulationSetup => ({
    ...{ ...setup, durationMs: 24 * HOUR_MS, seed: 1, replicas: 3 },
    settings: someSettings({ budget, gatewayTimeoutMs: 5_000 }),
    behaviour: { ...setup.behaviour, ...behaviour },
  });

  it('have the shortest lead that bridges the outage with fewer calls at once, and no more in a day', async () => {
    const run = (calls: number): SimulationSetup =>
      ofAnHour([{ calls, perMs: 24 * HOUR_MS }], { outageMs: 20 * MINUTE_MS });
    const pairs = (await tryIn(run(60))).filter(({ changes }) => changes.length === 2);
    const paced = [
      { calls: 60, perMs: 24 * HOUR_MS },
      { calls: 4, perMs: 10 * MINUTE_MS },
    ];
    // More calls are certain to bridge it, which is worth telling beside what did so in these runs.
    expect(pairs).toMatchObject([
      { effect: 'bridges', isSure: true, changes: [{ share: 0.4 }, { windows: [{ perMs: 24 * HOUR_MS }] }] },
      { effect: 'bridges', isSure: false, tight: [], changes: [{ share: 0.4 }, { of: 'budget', windows: paced }] },
    ]);
    const spans = (
      await playedIn([run(60), ...otherRuns(run(60))].map((one) => changed(one, pairs[1]?.changes ?? [])))
    ).map(({ figures }) => figures.worstRemainingMs ?? 0);
    expect(pairs[1]?.leastLeftMs).toBe(Math.min(...spans));
    const lead = (share: number): Tried['changes'] => [{ of: 'lead', share }];
    for (const changes of [lead(0.4), [...lead(0.3), { of: 'budget', windows: paced } as const]]) {
      expect(Math.max(...(await gapsWith(run(60), changes)))).toBeGreaterThan(0);
    }
  });

  it('have fewer calls at once also where these only leave the least, and nothing for which a bank is asked in vain', async () => {
    const windows = [
      { calls: 20, perMs: 10 * MINUTE_MS },
      { calls: 60, perMs: 24 * HOUR_MS },
    ];
    const told = (await tryIn(ofAnHour(windows, { outageMs: 30 * MINUTE_MS }))).filter(isBetter);
    const [paced] = told.filter(({ changes }) => kindOf(changes) === 'pace');
    expect(paced).toMatchObject({
      effect: 'shortens',
      changes: [{ share: 0.5 }, { windows: [{ calls: 4 }, { calls: 60 }] }],
    });
    expect(paced?.lostMs).toBeLessThan(2_000);
    expect(told.map(({ changes }) => kindOf(changes)).sort()).toEqual(['lifetime', 'pace']);
  });

  it('ask for no more calls than an outage takes whose calls come further apart', async () => {
    const run = {
      ...ofAnHour([{ calls: 4, perMs: 24 * HOUR_MS }], { lifetimeMs: 8 * HOUR_MS, outageMs: HOUR_MS }),
      durationMs: 120 * HOUR_MS,
    };
    const bridging = (await tryIn(run)).filter(bridges);
    // The schedule takes four a day, and a call in an hour and a half lets one fail: a last one is over.
    const windows = [
      { calls: 6, perMs: 24 * HOUR_MS },
      { calls: 1, perMs: 90 * MINUTE_MS },
    ];
    expect(bridging.map(({ changes }) => changes)).toEqual([[{ of: 'budget', windows, isPaced: true }]]);
  });

  it('make single calls where a handful a day is enough for these, also with a shorter lead', async () => {
    const ofDay = { calls: 6, perMs: 24 * HOUR_MS };
    const run = {
      ...ofAnHour([ofDay], { lifetimeMs: 6 * HOUR_MS, outageMs: 20 * MINUTE_MS }),
      ...{ replicas: 1, durationMs: 36 * HOUR_MS },
    };
    const windows = [ofDay, { calls: 1, perMs: 30 * MINUTE_MS }];
    const { tried, outdone, inVain } = await tryChanges(await playedIn([run, ...otherRuns(run).slice(0, 3)]));
    expect(tried.filter(isBetter)).toMatchObject([
      {
        ...{ effect: 'bridges', isSure: true },
        changes: [
          { of: 'lead', share: 0.1 },
          { of: 'budget', windows, isPaced: true },
        ],
      },
    ]);
    expect({ outdone, inVain }).toEqual({ outdone: [], inVain: ['lead'] });
  });

  it('tell what a lead costs where quiet hours decide when sessions are renewed, too', async () => {
    const run: SimulationSetup = {
      ...{ ...setup, durationMs: 240 * HOUR_MS, seed: 1, replicas: 1 },
      settings: someSettings({ quietHours: { from: '03:00', to: '05:00', timeZone: 'UTC' } }),
      behaviour: { ...setup.behaviour, lifetimeMs: 24 * HOUR_MS, outageMs: 3 * HOUR_MS },
    };
    const [lead] = (await tryIn(run)).filter(bridges);
    expect(lead?.changes).toEqual([{ of: 'lead', share: 0.2 }]);
    const calm = { ...run, behaviour: { ...run.behaviour, outageMs: 0 } };
    const [was, is] = await Promise.all([calm, changed(calm, lead?.changes ?? [])].map(played));
    expect(lead?.calm).toMatchObject({
      was: { createCalls: was?.createCalls, outsideQuietHours: was?.outsideQuietHours },
      is: { createCalls: is?.createCalls, outsideQuietHours: is?.outsideQuietHours },
    });
    expect(is?.createCalls).toBeGreaterThan(was?.createCalls ?? 0);
  });

  it('ask for no more calls than the default lead takes where a longer one, or one that is cut, exceeds the budget', async () => {
    const run = changed(ofAnHour([{ calls: 60, perMs: 24 * HOUR_MS }], { lifetimeMs: 15 * MINUTE_MS, outageMs: 0 }), [
      { of: 'leadTime', leadMs: 30 * MINUTE_MS },
    ]);
    expect((await tryIn(run)).filter(bridges)).toMatchObject([
      {
        changes: [
          { of: 'lead', share: 0.2 },
          { of: 'budget', windows: [{ calls: 150 }] },
        ],
      },
    ]);
  });

  it('leave room beside the schedule in a window that is raised, whatever is set and however short the run is', async () => {
    const calls = async (budget: CreateCallBudget, lifetimeMs: number, durationMs: number): Promise<unknown> => {
      const run = { ...ofAnHour(budget, { lifetimeMs, outageMs: 0 }), durationMs };
      return (await tryIn(run)).flatMap(({ changes: [change] }) => (change?.of === 'budget' ? [change.windows] : []));
    };
    // Six per hour, plus a fifth, plus one.
    for (const set of [2, 3, 4]) {
      const windows = [{ calls: set, perMs: HOUR_MS }];
      expect(await calls(windows, 15 * MINUTE_MS, 12 * HOUR_MS)).toEqual([[{ calls: 9, perMs: HOUR_MS }]]);
    }
    const ofDay = [{ calls: 60, perMs: 24 * HOUR_MS }];
    expect(await calls(ofDay, 15 * MINUTE_MS, 15 * HOUR_MS)).toEqual([[{ calls: 150, perMs: 24 * HOUR_MS }]]);
  });

  it('have no call more in a window, and few more in another, where these do as well', async () => {
    const windows = [{ calls: 10, perMs: 11 * MINUTE_MS }, { calls: 40, perMs: 24 * HOUR_MS }, ...full];
    const run: SimulationSetup = {
      ...{ ...setup, durationMs: 24 * HOUR_MS, seed: 1 },
      settings: someSettings({ budget: windows, gatewayTimeoutMs: 2_000 }),
      behaviour: { ...setup.behaviour, outageMs: 2 * HOUR_MS },
    };
    const [alone] = (await tryIn(run)).filter(({ changes }) => changes.length === 1 && changes[0]?.of === 'budget');
    const [change] = alone?.changes ?? [];
    const told = change?.of === 'budget' ? change.windows : [];
    expect(told[0]).toEqual(windows[0]);
    const calls = told[1]?.calls ?? 0;
    expect(calls).toBeGreaterThan(40);
    expect(calls).toBeLessThan(120);
    expect(Math.max(...(await gapsWith(run, alone?.changes ?? [])))).toBe(alone?.lostMs);
  });

  it('are sought with a longer timeout where calls are cut short, and tell that one, too', async () => {
    const run: SimulationSetup = {
      ...{ ...setup, durationMs: 24 * HOUR_MS, seed: 1, replicas: 3 },
      settings: someSettings({ budget: [{ calls: 20, perMs: 10 * MINUTE_MS }], gatewayTimeoutMs: 2_000 }),
      behaviour: { lifetimeMs: 15 * MINUTE_MS, latencyMs: 2_500, failureShare: 0, outageMs: 5 * MINUTE_MS },
    };
    const timeout = { of: 'timeout', timeoutMs: 4_000 } as const;
    const { tried, inVain } = await tryChanges(await playedIn([run, ...otherRuns(run)]));
    const [alone, ...more] = tried;
    expect(alone?.changes).toEqual([timeout]);
    expect(Math.max(...(await gapsWith(run, [timeout])))).toBeLessThan(Math.max(...(await gapsWith(run, []))) / 2);
    expect(inVain).not.toContain('timeout');
    expect(more.map(({ changes }) => changes)).toEqual([[timeout, { of: 'lead', share: 0.4 }]]);
    expect(await gapsWith(run, more[0]?.changes ?? [])).toEqual(Array(10).fill(0));
  });

  it('are sessions of session.longestLifetime where four times the length is more than that', async () => {
    const limited = (longestLifetimeMs: number): SimulationSetup => ({
      ...setup,
      settings: someSettings({ ...setup.settings, longestLifetimeMs }),
    });
    const lifetimes = async (run: SimulationSetup): Promise<readonly unknown[]> =>
      (await tryIn(run)).flatMap(({ changes: [change] }) => (change?.of === 'lifetime' ? [change.lifetimeMs] : []));
    expect(await lifetimes(limited(3 * HOUR_MS))).toEqual([3 * HOUR_MS]);
    expect(await lifetimes(limited(HOUR_MS))).toEqual([]);
  });

  it('are lead times that the configuration takes, and longer than the margin that is kept', async () => {
    const leads = async (run: SimulationSetup): Promise<readonly number[]> => {
      const figures = { ...(await played(run)), withoutSessionMs: 1, budgetRefusals: 0 };
      return (await tryChanges([{ setup: run, figures }])).tried.flatMap(({ changes: [change] }) =>
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
