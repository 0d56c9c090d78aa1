import { blockOf } from './alike-figures.js';
import { linesOf, type PlayedMerchant, type ShownOthers } from './printed-figures.js';

const merchant = (index: number, more: Partial<PlayedMerchant> = {}): PlayedMerchant => ({
  ...{ merchant: `shop-${index}`, lifetimeMs: 3_600_000, isFallback: false, createCalls: 57 + index, sessions: 30 },
  ...{ createCallsPerHour: 2.4, mostInAnHour: 28 + index, failures: { transient: 26 + index }, budgetRefusals: index },
  ...{
    worstRemainingMs: -60_000 * (20 + index),
    pastMarginMs: 30_000,
    withoutSessionMs: 60_000 * (20 + index),
    gaps: 1,
  },
  budget: [{ calls: 60, perMs: 86_400_000, used: 50 + index, needed: 30 }],
  ...more,
});

describe('the figures of merchants that are alike', () => {
  it('have one block, with the least and the most of each figure', () => {
    const otherRuns = {
      ...{ runs: 9, areShorter: false, leastWithoutSessionMs: 0, mostWithoutSessionMs: 1_500_000 },
      ...{ leastPastMarginMs: 0, mostPastMarginMs: 30_000 },
    };
    const worst = { durationMs: 86_400_000, seed: 4 };
    expect(blockOf([merchant(0), merchant(1, { otherRuns: { ...otherRuns, worst } })])).toEqual([
      '2 merchants alike, shop-0, shop-1, lifetime 1h; of each:',
      '  create calls     57 to 58: 58 a day, at most 29 in an hour',
      '  budget           at most 51 of 60 in 1d used, renewals held up: 0 to 1. Calls that failed had spent the budget, which is there to limit them',
      '  failed           26 to 27 transient',
      '  worst remaining  -21m',
      '  past the margin  30s',
      '  without session  between 20m and 21m',
      '  other runs       of shop-1: at most 25m in 9; the longest with --for 1d --seed 4 --merchant shop-1',
    ]);
  });

  it('say that renewals were held up at no cost where none of them was without a session', () => {
    const harmless = { pastMarginMs: 0, withoutSessionMs: 0 };
    expect(blockOf([merchant(0, harmless), merchant(1, harmless)])[2]).toMatch(
      /renewals held up: 0 to 1, at no cost: each session was replaced in time$/,
    );
    expect(blockOf([merchant(0, harmless), merchant(1)])[2]).toMatch(/renewals held up: 0 to 1\. Calls that failed /);
  });

  it('say what spent a budget that is enough for the schedule, and what that needs of it', () => {
    const line = (needed: number, used: number): string | undefined =>
      linesOf(
        merchant(1, {
          budget: [
            { calls: 20, perMs: 600_000, used: 12, needed: 1 },
            { calls: 60, perMs: 86_400_000, used, needed },
          ],
        }),
      )[2];
    const failed = 'renewals held up: 1\\. Calls that failed had spent the budget, which is there to limit them';
    expect(line(30, 60)).toMatch(new RegExp(`${failed}\\. The schedule alone takes 30 of 60 in 1d$`));
    expect(line(30, 59)).toMatch(new RegExp(`${failed}$`));
    const afterOutage = { gapMs: 60_000, inPauseMs: 0, byBudgetMs: 60_000 };
    expect(linesOf(merchant(1, { afterOutage }))[2]).toMatch(
      /renewals held up: 1\. A part of the time without a session comes from calls that failed and spent the budget$/,
    );
    expect(line(60, 60)).toMatch(/renewals held up: 1$/);
  });

  it('name the first where there are many, and are those of a merchant that is alone', () => {
    const many = Array.from({ length: 200 }, (_, index) => merchant(index, { failures: {} }));
    const [head, , , failed] = blockOf(many);
    expect(head).toBe('200 merchants alike, shop-0 first, lifetime 1h; of each:');
    expect(failed).toBe('  failed           none');
    expect(blockOf([merchant(0)])).toEqual(linesOf(merchant(0)));
  });

  it('name the run that is the longest of all, which may be this one', () => {
    const worst = { durationMs: 86_400_000, seed: 4 };
    const others = (mostWithoutSessionMs: number): ShownOthers => ({
      ...{
        runs: 9,
        areShorter: false,
        leastWithoutSessionMs: 0,
        mostWithoutSessionMs,
        leastPastMarginMs: 0,
        mostPastMarginMs: 30_000,
      },
      ...(mostWithoutSessionMs > 0 && { worst }),
    });
    const line = (mostMs: number): string | undefined => linesOf(merchant(0, { otherRuns: others(mostMs) })).at(-1);
    expect(line(1_260_000)).toMatch(/ at most 21m in 9; the longest with --for 1d --seed 4$/);
    expect(line(1_200_000)).toMatch(/ at most 20m in 9; this run is the longest$/);
    expect(line(0)).toMatch(/ 0s in each of 9; this run is the longest$/);
    const ofLong = { ...others(1_260_000), areShorter: true };
    expect(linesOf(merchant(0, { otherRuns: ofLong })).at(-1)).toMatch(/ at most 21m in 9 shorter ones; the longest/);
    const alike = blockOf([merchant(0), merchant(1, { otherRuns: others(60_000) })]);
    expect(alike.at(-1)).toMatch(/ {2}of shop-1: at most 1m in 9; this run is the longest$/);
    const past = { withoutSessionMs: 0, pastMarginMs: 30_000, otherRuns: { ...others(0), worst } };
    expect(linesOf(merchant(0, past)).at(-1)).toMatch(/, past the margin at most 30s; this run is the longest$/);
  });

  it('say when the longest gap began, of how many, and what of them came after the outage', () => {
    const line = (more: Partial<PlayedMerchant>): string | undefined => linesOf(merchant(0, more)).at(-1);
    const longestGap = { startsAfterMs: 45_000_000, gapMs: 900_000 };
    const afterOutage = { gapMs: 300_000, inPauseMs: 300_000, byBudgetMs: 0 };
    expect(line({ longestGap })).toBe('  without session  20m, 12h 30m after the start');
    expect(line({ longestGap, gaps: 3, afterOutage })).toBe(
      '  without session  20m in 3 gaps, the longest (15m) 12h 30m after the start; 5m of it after the outage',
    );
    expect(line({ withoutSessionMs: 0, gaps: 0 })).toBe('  without session  0s');
  });

  it('tell the calls of an outage together, and each call of the schedule by itself', () => {
    const quietHours = { from: '02:00', to: '05:00', timeZone: 'Europe/Kyiv' };
    const lineOf = (day: string, ...times: readonly string[]): string | undefined => {
      const calls = times.map((time) => ({ time, isQuiet: time < '05:00' }));
      return linesOf(merchant(0, { quietHours, days: [{ day, calls }] })).at(-1);
    };
    expect(lineOf('2026-10-23', '03:00', '04:34', '04:34', '04:42', '04:59', '05:03', '05:11', '17:20')).toBe(
      '    2026-10-23     03:00 04:34–04:42 (3 calls) 04:59 (05:03–05:11, 2 calls) (17:20)',
    );
    expect(lineOf('2026-10-25', '03:49', '03:59', '03:00', '03:10', '03:36')).toBe(
      '    2026-10-25     03:49–03:59 (2 calls) clocks back: 03:00–03:10 (2 calls) 03:36',
    );
  });

  it('have past the margin what the other runs had of it, where none of them has a gap', () => {
    const others = (mostPastMarginMs: number): ShownOthers => ({
      ...{
        runs: 9,
        areShorter: false,
        leastWithoutSessionMs: 0,
        mostWithoutSessionMs: 0,
        leastPastMarginMs: 0,
        mostPastMarginMs,
      },
      ...(mostPastMarginMs > 0 && { worst: { durationMs: 86_400_000, seed: 4 } }),
    });
    const calm = { pastMarginMs: 0, withoutSessionMs: 0 };
    expect(linesOf(merchant(0, { ...calm, otherRuns: others(6_000) })).at(-1)).toBe(
      '  other runs       0s in each of 9, past the margin at most 6s; the longest with --for 1d --seed 4',
    );
    expect(linesOf(merchant(0, { ...calm, otherRuns: others(0) })).at(-1)).toBe('  other runs       0s in each of 9');
  });
});
