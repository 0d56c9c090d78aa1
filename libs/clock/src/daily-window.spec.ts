import fc from 'fast-check';
import { DailyWindow, type DailyTimes, type Span } from './daily-window.js';
import { instantFromEpochMs, plusMs, toRfc3339 } from './instant.js';

const HOUR_MS = 3_600_000;
const night = { from: '03:00', to: '05:00', timeZone: 'Europe/Kyiv' };

const at = (text: string) => instantFromEpochMs(Date.parse(text));

function spansOf(times: DailyTimes, after: string, count: number): Span[] {
  const spans = new DailyWindow(times).endingAfter(at(after));
  return Array.from({ length: count }, () => spans.next().value);
}

const written = ({ from, until }: Span): string => `${toRfc3339(from).slice(0, 16)} ${toRfc3339(until).slice(0, 16)}`;

describe('a daily window', () => {
  const table: Readonly<Record<string, readonly [DailyTimes, string, readonly string[]]>> = {
    'follows the clocks of its zone, in winter and in summer': [
      night,
      '2026-03-28T00:00:00Z',
      ['2026-03-28T01:00 2026-03-28T03:00', '2026-03-29T01:00 2026-03-29T02:00', '2026-03-30T00:00 2026-03-30T02:00'],
    ],
    'is longer by the hour that comes twice': [
      night,
      '2026-10-24T00:00:00Z',
      ['2026-10-24T00:00 2026-10-24T02:00', '2026-10-25T00:00 2026-10-25T03:00', '2026-10-26T01:00 2026-10-26T03:00'],
    ],
    'does not occur on a day that skips it': [
      { ...night, from: '03:15', to: '03:45' },
      '2026-03-28T00:00:00Z',
      ['2026-03-28T01:15 2026-03-28T01:45', '2026-03-30T00:15 2026-03-30T00:45'],
    ],
    'begins with the jump when only its beginning is skipped': [
      { ...night, from: '03:30' },
      '2026-03-29T00:00:00Z',
      ['2026-03-29T01:00 2026-03-29T02:00'],
    ],
    'ends when its end is shown for the first time': [
      { ...night, from: '02:00', to: '03:30' },
      '2026-10-25T00:00:00Z',
      ['2026-10-24T23:00 2026-10-25T00:30', '2026-10-26T00:00 2026-10-26T01:30'],
    ],
    'goes over midnight when its end is the earlier time': [
      { from: '23:30', to: '01:15', timeZone: 'America/New_York' },
      '2026-07-01T04:00:00Z',
      ['2026-07-01T03:30 2026-07-01T05:15', '2026-07-02T03:30 2026-07-02T05:15'],
    ],
  };

  it.each(Object.entries(table))('%s', (_name, [times, after, expected]) => {
    expect(spansOf(times, after, expected.length).map(written)).toEqual(expected);
  });

  it('is the first one while it lasts, up to its last millisecond', () => {
    const window = new DailyWindow(night);
    const first = (text: string): string => written(window.endingAfter(at(text)).next().value);
    expect(first('2026-07-01T01:59:59.999Z')).toBe('2026-07-01T00:00 2026-07-01T02:00');
    expect(first('2026-07-01T02:00:00.000Z')).toBe('2026-07-02T00:00 2026-07-02T02:00');
    expect(window.contains(at('2026-07-01T00:00:00.000Z'))).toBe(true);
    expect(window.contains(at('2026-06-30T23:59:59.999Z'))).toBe(false);
    expect(window.contains(at('2026-07-01T02:00:00.000Z'))).toBe(false);
  });

  it('tells the day and the time that its clocks show', () => {
    expect(new DailyWindow(night).reading(at('2026-10-25T00:41:00Z'))).toEqual({ day: '2026-10-25', time: '03:41' });
    expect(new DailyWindow(night).lengthMs).toBe(2 * HOUR_MS);
  });

  it.each([
    ['a time that no clock shows', { ...night, from: '24:00' }],
    ['a time that is written otherwise', { ...night, to: '5:00' }],
    ['a window of no length', { ...night, to: '03:00' }],
    ['a zone that does not exist', { ...night, timeZone: 'Europe/Atlantis' }],
  ])('is refused for %s', (_name, times) => {
    expect(() => new DailyWindow(times)).toThrow(RangeError);
  });
});

describe('the windows of any zone, at any time of the year', () => {
  const zones = ['Europe/Kyiv', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Chatham', 'UTC'];
  const timeOfDay = fc
    .integer({ min: 0, max: 95 })
    .map((quarter) => new Date(quarter * 900_000).toISOString().slice(11, 16));
  const times = fc
    .record({ from: timeOfDay, to: timeOfDay, timeZone: fc.constantFrom(...zones) })
    .filter(({ from, to }) => from !== to);
  const moment = fc
    .integer({ min: Date.parse('2000-01-01'), max: Date.parse('2037-01-01') })
    .map((epochMs) => instantFromEpochMs(epochMs));

  /** What a clock on the wall would say, computed in a different way from the window. */
  function clockOf(timeZone: string, epochMs: number): string {
    return new Date(epochMs).toLocaleTimeString('sv-SE', { timeZone, hour: '2-digit', minute: '2-digit' });
  }

  function isWithin(clock: string, { from, to }: DailyTimes): boolean {
    return from < to ? clock >= from && clock < to : clock >= from || clock < to;
  }

  it('begin and end as their clocks say, do not overlap, and are a day apart, give or take the jump', () => {
    fc.assert(
      fc.property(times, moment, (daily, instant) => {
        const spans = new DailyWindow(daily).endingAfter(instant);
        let before = spans.next().value;
        for (let count = 0; count < 10; count += 1) {
          const next = spans.next().value;
          const { from, until } = next;
          expect(from).toBeGreaterThanOrEqual(before.until);
          expect(until).toBeGreaterThan(from);
          expect(isWithin(clockOf(daily.timeZone, from), daily)).toBe(true);
          expect(isWithin(clockOf(daily.timeZone, plusMs(until, -1)), daily)).toBe(true);
          const apartMs = from - before.from;
          expect(apartMs).toBeGreaterThanOrEqual(22 * HOUR_MS);
          expect(apartMs).toBeLessThanOrEqual(50 * HOUR_MS);
          before = next;
        }
      }),
      { numRuns: 60 },
    );
  });
});
