import { plusMs } from '#libs/clock';
import { aSession, someSettings } from '#libs/testing';
import { budgetInForce, longestWindowMs, waitForBudget } from './obstacles.js';
import type { CreateCallBudget, Session } from './session.js';

const storm = { calls: 2, perMs: 10 };
const day = { calls: 3, perMs: 100 };

describe('a budget of several windows', () => {
  const table: Readonly<Record<string, readonly [CreateCallBudget, readonly number[], number | undefined]>> = {
    'lets a call through where each of its windows does': [[storm, day], [50, 85], undefined],
    'refuses as long as the short one does': [[storm, day], [91, 95], 1],
    'refuses as long as the long one does, though the short one has forgotten': [[storm, day], [10, 20, 30], 10],
    'refuses until the last of those that refuse lets a call through': [[storm, day], [5, 95, 98], 5],
    'is the same in whatever order its windows stand': [[day, storm], [5, 95, 98], 5],
    'waits for as many calls to leave as a lowered window wants gone': [[{ calls: 1, perMs: 100 }], [20, 60], 60],
    'lets a call through in the very millisecond in which one leaves': [[{ calls: 1, perMs: 100 }], [0], undefined],
  };

  it.each(Object.entries(table))('%s', (_name, [budget, callsAtMs, retryInMs]) => {
    expect(waitForBudget(callsAtMs, budget, 100)?.retryInMs).toBe(retryInMs);
  });

  it('names the window that refuses for longest, and the call that has to leave it', () => {
    expect(waitForBudget([5, 95, 98], [storm, day], 100)).toEqual({ retryInMs: 5, window: storm });
    expect(waitForBudget([8, 95, 98], [storm, day], 100)).toEqual({ retryInMs: 8, window: day });
  });

  it('looks back as far as its longest window', () => {
    expect(longestWindowMs([day, storm])).toBe(100);
  });
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const short = { calls: 20, perMs: 10 * MINUTE_MS };

describe('the budget in force', () => {
  const lasting = (lifetimeMs: number): Session => {
    const session = aSession();
    return { ...session, expiresAt: plusMs(session.createdAt, lifetimeMs) };
  };
  const aDay = (lifetimeMs: number, settings = someSettings()): number | undefined =>
    budgetInForce(settings, lasting(lifetimeMs)).find(({ perMs }) => perMs === DAY_MS)?.calls;

  it('has three times the calls that the schedule needs in a day for sessions of this length, and 24 at least', () => {
    // 20 % of a quarter of an hour and a tenth of that: one in 702 s.
    expect(aDay(15 * MINUTE_MS)).toBe(3 * 124);
    expect(aDay(15 * MINUTE_MS, someSettings({ renewBefore: { kind: 'share', share: 0.5 } }))).toBe(3 * 192);
    expect(aDay(2 * HOUR_MS)).toBe(3 * 16);
    expect([aDay(8 * HOUR_MS), aDay(DAY_MS)]).toEqual([24, 24]);
    expect(aDay(DAY_MS, someSettings({ renewEveryMs: HOUR_MS }))).toBe(3 * 47);
  });

  it('follows from the fallback lifetime before the first session', () => {
    const settings = someSettings({ fallbackLifetimeMs: HOUR_MS });
    expect(budgetInForce(settings, undefined)).toEqual([short, { calls: 3 * 31, perMs: DAY_MS }]);
  });

  it('is what is written where that has a window of a day or more', () => {
    const written = [short, { calls: 3, perMs: DAY_MS }];
    expect(budgetInForce(someSettings({ budget: written }), lasting(15 * MINUTE_MS))).toEqual(written);
    const week = [{ calls: 30, perMs: 7 * DAY_MS }];
    expect(budgetInForce(someSettings({ budget: week }), lasting(HOUR_MS))).toEqual(week);
  });
});
