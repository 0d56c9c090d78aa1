import { plusMs } from '#libs/clock';
import { aNow, aSession, someSettings } from '#libs/testing';
import { unknownMerchant, type Wish } from './merchant.js';
import {
  blockedBy,
  budgetInForce,
  isBudgetSpent,
  longestWindowMs,
  retryInMsOf,
  shareOf,
  spentWait,
  standingFor,
  waitForBudget,
} from './obstacles.js';
import type { ClaimRefusal } from './ports/session-store.js';
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

describe('what a wish may spend', () => {
  const budget = [short, { calls: 100, perMs: DAY_MS }];
  const cutsShort = { kind: 'backing_off', retryInMs: 1 } as const;
  const wish = { trigger: 'demand', newerThan: 0, coolDownMs: 0, isOverdue: false, ignoresBackOff: false } as const;

  it.each<[string, Partial<Wish>, readonly number[]]>([
    ['is all of the budget, by default', {}, [20, 100]],
    ['is three quarters, if it replaces a living session', { coolDownMs: 1 }, [15, 75]],
    ['is less of a long window, if it cuts a back-off short', { cutsShort }, [15, 40]],
    ['is the same, if it does both', { coolDownMs: 1, cutsShort }, [15, 40]],
  ])('%s', (_what, change, calls) => {
    expect(shareOf({ ...wish, ...change }, budget).map((window) => window.calls)).toEqual(calls);
  });

  it('is one call at least', () => {
    const one = [{ calls: 1, perMs: HOUR_MS }];
    expect(shareOf({ ...wish, coolDownMs: 1 }, one)).toEqual(one);
  });
});

describe('a refusal', () => {
  const now = aNow({ ms: 1_000 });
  const early = { coolDownMs: 10_000 };
  const plain = { coolDownMs: 0 };
  const after = (refusal: ClaimRefusal, wish: { readonly coolDownMs: number }): ReturnType<typeof unknownMerchant> => ({
    ...unknownMerchant('shop'),
    blocked: blockedBy({}, refusal, { ms: now.ms, wish }),
  });
  const inSeconds = (retryInMs: number): readonly [ClaimRefusal, ClaimRefusal, ClaimRefusal] => [
    { kind: 'cooled_down', retryInMs },
    { kind: 'budget_exhausted', retryInMs },
    { kind: 'held', retryInMs },
  ];
  const [cooledDown, spent, held] = inSeconds(5_000);

  it.each<[string, readonly [ClaimRefusal, { readonly coolDownMs: number }], readonly [unknown, unknown]]>([
    ['by a cool-down stands for whoever would replace a living session', [cooledDown, early], [cooledDown, undefined]],
    ['by a share of the budget stands for the same', [spent, early], [spent, undefined]],
    ['by the whole budget stands for everybody', [spent, plain], [spent, spent]],
    ['by a lease stands for everybody', [held, early], [held, held]],
    ['as not due stands for nobody', [{ kind: 'not_due', retryInMs: 5_000 }, plain], [undefined, undefined]],
  ])('%s', (_name, [refusal, wish], standing) => {
    const merchant = after(refusal, wish);
    expect([standingFor(merchant, early, now), standingFor(merchant, plain, now)]).toEqual(standing);
    const later = { ...now, ms: now.ms + 5_000 };
    expect([standingFor(merchant, early, later), standingFor(merchant, plain, later)]).toEqual([undefined, undefined]);
  });

  it('by a longer cool-down says nothing of a shorter one', () => {
    const merchant = after(cooledDown, { coolDownMs: 600_000 });
    expect(standingFor(merchant, early, now)).toBeUndefined();
    expect(standingFor(merchant, { coolDownMs: 600_000 }, now)).toEqual(cooledDown);
  });

  it('of the share shows a spent budget, and holds the schedule up for nothing', () => {
    const merchant = after(spent, early);
    expect([isBudgetSpent(merchant, now), retryInMsOf(merchant, now), spentWait(merchant, now)]).toEqual([
      true,
      undefined,
      undefined,
    ]);
    expect(isBudgetSpent(merchant, { ...now, ms: now.ms + 5_000 })).toBe(false);
  });

  it('of the whole names its window while that is in the configuration, and lasts as long as the longer count', () => {
    const refusal: ClaimRefusal = { kind: 'budget_exhausted', retryInMs: 5_000, perMs: short.perMs };
    const merchant = after(refusal, plain);
    expect(spentWait(merchant, now)).toEqual({ retryInMs: 5_000, window: short });
    expect(retryInMsOf(merchant, now)).toBe(5_000);
    const lowered = { ...now, settings: someSettings({ budget: [{ calls: 1, perMs: 6_000 }] }) };
    expect(spentWait(merchant, lowered)).toEqual({ retryInMs: 5_000, window: undefined });
    const called = { ...merchant, callsAtMs: [now.ms] };
    expect(spentWait(called, lowered)).toMatchObject({ retryInMs: 6_000, window: { perMs: 6_000 } });
  });
});
