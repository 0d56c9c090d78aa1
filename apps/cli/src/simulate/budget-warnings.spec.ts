import { instantFromEpochMs } from '#libs/clock';
import type { CreateCallBudget } from '#libs/session';
import { someSettings } from '#libs/testing';
import { tooSmallBudgetWarnings } from './budget-warnings.js';
import { changed } from './change.js';
import type { SimulationSetup } from './simulation.js';
import { played } from './trials.js';
import { textOf } from './wording.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const daily = (lifetimeMs: number, budget: CreateCallBudget): SimulationSetup => ({
  ...{ merchant: 'shop', startsAt: instantFromEpochMs(0), replicas: 1, durationMs: DAY_MS, seed: 1 },
  settings: someSettings({ budget }),
  behaviour: { lifetimeMs, latencyMs: 300, failureShare: 0, outageMs: 0 },
});

const warningsOf = async (setup: SimulationSetup): Promise<readonly string[]> =>
  tooSmallBudgetWarnings({ setup, figures: await played(setup) }).map(textOf);

const six = { calls: 6, perMs: DAY_MS };

describe('the warning of a budget that is too small', () => {
  it('names how long sessions have to live for it, and those have a call to spare', async () => {
    const short = daily(HOUR_MS, [six]);
    expect(await warningsOf(short)).toEqual([
      'the budget of create calls was spent: renewing sessions of 1h takes up to 31 calls in 1d, and session.budget allows 6 in 1d. ' +
        'It is enough for sessions of 6h 10m or longer, with a call to spare: ask the bank for these, or whether it expects so many before you allow them',
    ]);
    const enough = await played(changed(short, [{ of: 'lifetime', lifetimeMs: 6.5 * HOUR_MS }]));
    expect(enough.budget).toMatchObject([{ calls: 6, needed: 5 }]);
    expect(await warningsOf(daily(6.5 * HOUR_MS, [six]))).toEqual([]);
    expect(await warningsOf(daily(6 * HOUR_MS, [six]))).toEqual([
      expect.stringMatching(/ 6 calls in 1d, .* 6h 10m or /),
    ]);
  });

  it('names none where no session that is believed lives as long', async () => {
    const { settings, ...run } = daily(HOUR_MS, [six]);
    for (const more of [{ longestLifetimeMs: 6 * HOUR_MS }, { renewEveryMs: 30 * MINUTE_MS }]) {
      const [told] = await warningsOf({ ...run, settings: { ...settings, ...more } });
      expect(told).toMatch(/\. Ask the bank whether it expects so many before you allow them$/);
    }
  });

  it('says nothing of a single call in a window that is over before the session ends', async () => {
    const single = { calls: 1, perMs: 30 * MINUTE_MS };
    expect(await warningsOf(daily(8 * HOUR_MS, [single, six]))).toEqual([]);
    // Here a call that fails is made again only when the session has ended.
    expect(await warningsOf(daily(2 * HOUR_MS, [single]))).toEqual([
      expect.stringMatching(/takes up to 1 call in 30m, and it allows 1 in 30m\. A call that fails may cost a session/),
    ]);
  });
});
