import { linesOf, linesOfSum, type PlayedMerchant } from './printed-figures.js';
import { seconds } from './spans.js';

const merchant = (more: Partial<PlayedMerchant> = {}): PlayedMerchant => ({
  ...{ merchant: 'shop', lifetimeMs: 3_600_000, isFallback: false, createCalls: 57, sessions: 30 },
  ...{ createCallsPerHour: 2.4, mostInAnHour: 28, failures: { transient: 26, timeout: 1 }, budgetRefusals: 1 },
  ...{ worstRemainingMs: -1_200_000, pastMarginMs: 30_000, withoutSessionMs: 1_200_000, gaps: 1 },
  longestGap: { startsAfterMs: 45_000_000, gapMs: 900_000 },
  budget: [{ calls: 60, perMs: 86_400_000, used: 50 }],
  ...more,
});

describe('the figures of a merchant in words', () => {
  it('say what was called, what failed, what was left, and when the longest gap began', () => {
    expect(linesOf(merchant())).toEqual([
      'shop, lifetime 1h',
      '  create calls     57: 58 a day, at most 28 in an hour',
      '  budget           at most 50 of 60 in 1d used, renewals held up: 1',
      '  failed           26 transient, 1 timeout',
      '  worst remaining  none: the next one came 20m after the end',
      '  past the margin  30s',
      '  without session  20m, 12h 30m after the start',
    ]);
  });

  it('count the gaps, and say what of them came after the outage', () => {
    const line = (more: Partial<PlayedMerchant>): string | undefined => linesOf(merchant({ gaps: 3, ...more })).at(-1);
    const gaps = '  without session  20m in 3 gaps, the longest (15m) 12h 30m after the start';
    expect(line({ afterOutage: { gapMs: 300_000 } })).toBe(`${gaps}; 5m of it after the outage`);
    expect(line({ afterOutage: { gapMs: 1_200_100 } })).toBe(`${gaps}; all of it after the outage`);
    // A look or two of the replicas is no news.
    expect(line({ afterOutage: { gapMs: 4_000 } })).toBe(gaps);
  });

  it('say that renewals were held up at no cost where each session was replaced in time', () => {
    const calm = merchant({ pastMarginMs: 0, withoutSessionMs: 0 });
    expect(linesOf(calm)[2]).toMatch(/renewals held up: 1, at no cost: each session was replaced in time$/);
    expect(linesOf({ ...calm, budgetRefusals: 0 })[2]).toMatch(/renewals held up: 0$/);
  });

  it('end with the calls of each day where there are quiet hours, those outside in brackets', () => {
    const quietHours = { from: '02:00', to: '05:00', timeZone: 'Europe/Kyiv' };
    const dayOf = (day: string, ...times: readonly string[]): NonNullable<PlayedMerchant['days']>[number] => ({
      day,
      calls: times.map((time) => ({ time, isQuiet: time < '05:00' })),
    });
    const days = [
      dayOf('2026-10-23', '04:34', '17:20'),
      dayOf('2026-10-24', '04:29', '04:30', '04:31', '04:33', '04:40', '04:55', '05:10'),
    ];
    expect(linesOf(merchant({ quietHours, days })).slice(-3)).toEqual([
      '  quiet hours      7 of the calls in them, 2 outside; times in Europe/Kyiv',
      '    2026-10-23     04:34 (17:20)',
      '    2026-10-24     from 04:29 on, 7 calls',
    ]);
  });
});

describe('the sum of merchants in words', () => {
  it('counts those with a gap, one as one, and says how long it was at most', () => {
    const sum = { merchants: 3, createCalls: 3, createCallsPerHour: 3, mostInAnHour: 3, failures: {} };
    const line = (withGap: number, longestGapMs: number): string | undefined =>
      linesOfSum({ ...sum, heldUp: withGap, withGap, longestGapMs }).at(-1);
    expect(line(0, 0)).toBe('  without session  none');
    expect(line(1, 61_000)).toBe('  without session  1 merchant, for 1m 1s');
    expect(line(2, 61_000)).toBe('  without session  2 merchants, at most 1m 1s each');
  });
});

describe('a span in words', () => {
  it('is told to the second, and from an hour on to the minute', () => {
    expect([1_094_000, 62_000, 58_000, 49_091_000].map(seconds)).toEqual([...['18m 14s', '1m 2s', '58s', '13h 38m']]);
  });

  it('is 0s only where it is nothing', () => {
    expect([0, 0.2, 300, 499, 500].map(seconds)).toEqual([
      ...['0s', 'less than a second', 'less than a second', 'less than a second', '1s'],
    ]);
  });
});
