import { someSettings } from '#libs/testing';
import { budgetShortfall, callsOnSchedule, shortfallRemedy, shortfallText } from './schedule-calls.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const QUARTER_MS = 15 * MINUTE_MS;

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
