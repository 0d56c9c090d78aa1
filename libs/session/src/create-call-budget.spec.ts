import { plusMs } from '#libs/clock';
import { aSession, FakeClock, RecordedEvents, someSettings } from '#libs/testing';
import { BudgetForecast } from './budget-forecast.js';
import { CallCeiling } from './call-ceiling.js';
import { longestWindowMs, waitForBudget } from './create-call-budget.js';
import { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { CreateCallBudget } from './ports/session-store.js';
import { budgetShortfall, callsOnSchedule, shortfallRemedy, shortfallText } from './schedule-calls.js';

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
    'refuses for a whole window where one allows no call at all': [[storm, { calls: 0, perMs: 70 }], [], 70],
  };

  it.each(Object.entries(table))('%s', (_name, [budget, callsAtMs, retryInMs]) => {
    expect(waitForBudget(callsAtMs, budget, 100)?.retryInMs).toBe(retryInMs);
  });

  it('names the window that refuses for longest, and the call that has to leave it', () => {
    expect(waitForBudget([5, 95, 98], [storm, day], 100)).toEqual({ retryInMs: 5, window: storm, callAtMs: 95 });
    expect(waitForBudget([8, 95, 98], [storm, day], 100)).toEqual({ retryInMs: 8, window: day, callAtMs: 8 });
  });

  it('looks back as far as its longest window', () => {
    expect(longestWindowMs([day, storm])).toBe(100);
  });
});

const budget = [{ calls: 2, perMs: 1_000 }];

describe('the ceiling of calls of one process', () => {
  it('lets a call be made while fewer than the budget lie in the window, to the millisecond', async () => {
    const clock = new FakeClock();
    const ceiling = new CallCeiling(clock);
    expect(ceiling.waitMs('shop', budget)).toBe(0);
    ceiling.called('shop');
    await clock.advance(300);
    expect(ceiling.waitMs('shop', budget)).toBe(0);
    ceiling.called('shop');
    expect(ceiling.waitMs('shop', budget)).toBe(700);
    await clock.advance(699);
    expect(ceiling.waitMs('shop', budget)).toBe(1);
    await clock.advance(1);
    expect(ceiling.waitMs('shop', budget)).toBe(0);
    ceiling.called('shop');
    expect(ceiling.waitMs('shop', budget)).toBe(300);
  });

  it('waits for as many calls as a lowered budget wants gone', async () => {
    const clock = new FakeClock();
    const ceiling = new CallCeiling(clock);
    ceiling.called('shop');
    await clock.advance(100);
    ceiling.called('shop');
    expect(ceiling.waitMs('shop', [{ calls: 1, perMs: 1_000 }])).toBe(1_000);
  });

  it('is that of each merchant alone', () => {
    const ceiling = new CallCeiling(new FakeClock());
    ceiling.called('shop');
    ceiling.called('shop');
    expect(ceiling.waitMs('kiosk', budget)).toBe(0);
  });
});

const QUARTER_MS = 900_000;

class Forecasting {
  readonly events = new RecordedEvents();
  readonly held = new HeldSessions(new FakeClock());
  settings: ReturnType<Merchants['settingsOf']> = someSettings();
  readonly forecast = new BudgetForecast({
    ...{ events: this.events, held: this.held },
    merchants: { ids: () => ['shop'], settingsOf: () => this.settings, gatewayIdOf: () => 'gateway' },
  });
  #generation = 0;

  adopts(lifetimeMs: number, source: 'own' | 'store' = 'own'): void {
    const generation = (this.#generation += 2);
    const session = aSession({ generation });
    this.held.adopt({ ...session, expiresAt: plusMs(session.createdAt, lifetimeMs) }, 0);
    this.forecast.emit({
      event: 'session_adopted',
      merchant: 'shop',
      generation,
      source,
      ageMs: 0,
      serverKeyChanged: false,
    });
  }

  get told(): readonly number[] {
    return this.events.of('budget_too_small').map(({ lifetimeMs }) => lifetimeMs);
  }
}

describe('a budget that cannot carry the schedule', () => {
  it('is told with the first session, and with no later one that lives as long', () => {
    const seen = new Forecasting();
    seen.adopts(QUARTER_MS);
    expect(seen.events.all.map(({ event }) => event)).toEqual(['session_adopted', 'budget_too_small']);
    expect(seen.events.of('budget_too_small')).toEqual([
      expect.objectContaining({
        ...{ merchant: 'shop', mendedBy: 'bank' },
        windows: [{ calls: 60, perMs: 86_400_000, needed: 124 }],
      }),
    ]);
    for (const lifetimeMs of [QUARTER_MS - 1_800, QUARTER_MS, QUARTER_MS + 5_000]) seen.adopts(lifetimeMs);
    expect(seen.told).toEqual([QUARTER_MS]);
  });

  it('is told of a session that another replica has made', () => {
    const seen = new Forecasting();
    seen.adopts(QUARTER_MS, 'store');
    expect(seen.told).toEqual([QUARTER_MS]);
  });

  it('is told again of sessions that live otherwise, and not of those that it can carry', () => {
    const seen = new Forecasting();
    for (const lifetimeMs of [QUARTER_MS, 28_800_000, QUARTER_MS, QUARTER_MS / 3]) seen.adopts(lifetimeMs);
    expect(seen.told).toEqual([QUARTER_MS, QUARTER_MS / 3]);
  });

  it('is told at once of settings that were changed, and not of those that mend it', () => {
    const seen = new Forecasting();
    seen.settings = someSettings({ budget: [{ calls: 150, perMs: 86_400_000 }] });
    seen.adopts(QUARTER_MS);
    expect(seen.told).toEqual([]);
    seen.settings = someSettings();
    seen.forecast.settingsChanged('shop');
    expect(seen.told).toEqual([QUARTER_MS]);
    seen.settings = undefined;
    seen.forecast.settingsChanged('shop');
    expect(seen.told).toHaveLength(1);
  });

  it('passes every event on as it is', () => {
    const seen = new Forecasting();
    seen.forecast.emit({ event: 'store_recovered' });
    expect(seen.events.all).toEqual([{ event: 'store_recovered' }]);
  });
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const textOf = (lifetimeMs: number, settings = someSettings()): string | undefined => {
  const shortfall = budgetShortfall(lifetimeMs, settings);
  return shortfall && `${shortfallText(shortfall)}; ${shortfallRemedy(shortfall)}`;
};

describe('the create calls of a schedule', () => {
  it('are one for each session, renewed as early as the jitter can make it', () => {
    // 20 % of a quarter of an hour and a tenth of that: one in 702 s.
    expect(callsOnSchedule(QUARTER_MS, someSettings(), DAY_MS)).toBe(124);
    expect(callsOnSchedule(QUARTER_MS, someSettings({ renewBefore: { kind: 'share', share: 0.5 } }), DAY_MS)).toBe(192);
    expect(callsOnSchedule(DAY_MS, someSettings({ renewEveryMs: 8 * HOUR_MS }), DAY_MS)).toBe(4);
    expect(callsOnSchedule(1, someSettings(), DAY_MS)).toBe(DAY_MS);
  });

  it('fit the default budget from half an hour and a little on', () => {
    expect(budgetShortfall(31 * MINUTE_MS, someSettings())).toBeUndefined();
    expect(budgetShortfall(30 * MINUTE_MS, someSettings())).toMatchObject({
      windows: [{ calls: 60, perMs: DAY_MS, needed: 62 }],
    });
  });

  it('fit a window that allows exactly as many', () => {
    expect(budgetShortfall(QUARTER_MS, someSettings({ budget: [{ calls: 124, perMs: DAY_MS }] }))).toBeUndefined();
    expect(budgetShortfall(QUARTER_MS, someSettings({ budget: [{ calls: 123, perMs: DAY_MS }] }))).toBeDefined();
  });
});

describe('a budget that cannot carry the schedule', () => {
  it('is told with the calls that are needed, those that are allowed, what it costs and what to do', () => {
    expect(textOf(QUARTER_MS)).toBe(
      'renewing sessions of 15m takes about 124 create calls a day, and session.budget allows 60: about 12h of every day ' +
        'without a session; ask the bank for longer sessions, or whether it allows so many calls, and raise session.budget then',
    );
  });

  it('is told of every window, and what it costs by the worst of them', () => {
    expect(textOf(10_000)).toMatch(
      /^renewing sessions of 10s takes about 120 create calls in 10m and 17280 a day, and session\.budget allows 20 and 60: about 24h of every day without/,
    );
    expect(textOf(MINUTE_MS, someSettings({ budget: [{ calls: 5, perMs: 10 * MINUTE_MS }] }))).toMatch(
      /takes about 13 create calls in 10m, and session\.budget allows 5: about 6m of every 10m without a session;/,
    );
    expect(textOf(MINUTE_MS, someSettings({ budget: [{ calls: 70, perMs: HOUR_MS }] }))).toMatch(
      /takes about 77 create calls an hour, and session\.budget allows 70: about 5m of every 1h without a session;/,
    );
  });

  it('is told by the lifetime that the gateway names, whose last second or two the broker does not count on', () => {
    expect(textOf(QUARTER_MS - 1_900)).toMatch(/^renewing sessions of 15m takes/);
    expect(textOf(58_600)).toMatch(/^renewing sessions of 59s takes/);
  });

  it('is mended by the setting that costs the calls, before the bank is asked', () => {
    expect(textOf(HOUR_MS, someSettings({ renewEveryMs: 10 * MINUTE_MS }))).toMatch(
      /; renew less often, by a longer session\.renewEvery or none, or ask the bank whether it allows so many/,
    );
    expect(textOf(30 * MINUTE_MS)).toMatch(/; renew later, by a shorter session\.renewBefore, or ask the bank whether/);
  });
});
