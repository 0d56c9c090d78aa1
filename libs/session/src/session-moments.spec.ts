import {
  type DailyTimes,
  DailyWindow,
  type Instant,
  instantFromEpochMs,
  msBetween,
  plusMs,
  toRfc3339,
} from '#libs/clock';
import { aSession, someSettings } from '#libs/testing';
import { leadShareOf, leadTimeShortfall, momentsOf, quietMoment } from './session-moments.js';
import { placeOf, type SessionSettings } from './session.js';
import fc from 'fast-check';

const { createdAt } = aSession();
const unspread = { merchant: 'shop', jitter: 0 };
const lifeOf = (lifetimeMs: number) => ({ createdAt, expiresAt: plusMs(createdAt, lifetimeMs) });

function leadAndMargin(
  lifetimeMs: number,
  settings = someSettings(),
  jitter = 0,
): { leadMs: number; marginMs: number } {
  const life = lifeOf(lifetimeMs);
  const moments = momentsOf(life, settings, { merchant: 'shop', jitter });
  return {
    leadMs: msBetween(moments.renewAt, life.expiresAt),
    marginMs: msBetween(moments.mustRenewAt, life.expiresAt),
  };
}

describe('the moments of a session', () => {
  const hour = { kind: 'duration', durationMs: 3_600_000 } as const;
  const own = {
    renewBefore: { kind: 'share', share: 0.4 },
    safetyMargin: { kind: 'duration', durationMs: 7_000 },
  } as const;
  const every = { renewEveryMs: 28_800_000 };
  const quietHours = { from: '03:00', to: '03:01', timeZone: 'UTC' };
  const nightly = { renewEveryMs: 600_000, quietHours, renewBefore: { kind: 'share', share: 0.1 } } as const;

  it.each<[string, [lifetimeMs: number, chosen?: Partial<SessionSettings>, jitter?: number], [number, number]]>([
    ['lead by 20 % of the lifetime, with a margin of half a minute at most', [900_000], [180_000, 30_000]],
    ['lead by up to a tenth more with the jitter', [900_000, {}, 1], [198_000, 30_000]],
    ['have a margin of 5 %', [300_000], [60_000, 15_000]],
    ['lead by two gateway timeouts at least', [30_000], [10_000, 1_500]],
    ['lead by half of the lifetime at most, or it would renew for ever', [2_000], [1_000, 100]],
    ['do so whatever is set', [60_000, { renewBefore: hour }], [30_000, 3_000]],
    ['take both from the settings, as a share or as a duration', [100_000, own], [40_000, 7_000]],
    ['bound the age', [86_400_000, every], [57_600_000, 30_000]],
    ['spread that bound as they do the lead', [86_400_000, every, 0.5], [57_600_000 + 864_000, 30_000]],
    ['bound no age that is not reached', [3_600_000, every], [720_000, 30_000]],
    ['spread no bound with quiet hours', [1_200_000, nightly, 0.5], [600_000, 30_000]],
  ])('%s', (_what, [lifetimeMs, chosen = {}, jitter = 0], [leadMs, marginMs]) => {
    const settings = someSettings(chosen);
    expect(leadAndMargin(lifetimeMs, settings, jitter)).toEqual({ leadMs, marginMs });
    // Others plan with the lead as it is before the jitter.
    if (settings.renewEveryMs === undefined && jitter === 0) {
      expect(leadShareOf(lifetimeMs, settings) * lifetimeMs).toBeCloseTo(leadMs);
    }
  });

  it('has a default lead of at most five minutes with quiet hours, and of two gateway timeouts at least', () => {
    const quietHours = { from: '03:00', to: '05:00', timeZone: 'UTC' };
    // Too short to reach the next night: it is renewed as late as safety allows, by its merchant's place.
    const leadMs = (settings: object): number =>
      leadAndMargin(3_600_000, someSettings({ quietHours, ...settings }), 0.9).leadMs;
    expect(leadMs({})).toBeGreaterThanOrEqual(300_000);
    expect(leadMs({})).toBeLessThanOrEqual(330_000);
    expect(leadMs({})).toBe(leadAndMargin(3_600_000, someSettings({ quietHours }), 0).leadMs);
    expect(leadMs({ gatewayTimeoutMs: 200_000 })).toBeGreaterThanOrEqual(400_000);
    expect(leadMs({ renewBefore: { kind: 'share', share: 0.2 } })).toBeGreaterThanOrEqual(720_000);
  });

  it('orders creation, renewal, margin and expiry for every lifetime and setting', () => {
    const leadTime = fc.option(
      fc.oneof(
        fc.record({ kind: fc.constant('share' as const), share: fc.double({ min: 0.001, max: 0.999, noNaN: true }) }),
        fc.record({ kind: fc.constant('duration' as const), durationMs: fc.integer({ min: 1, max: 1e9 }) }),
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e11 }), leadTime, leadTime, (lifetimeMs, renewBefore, safetyMargin) => {
        const life = lifeOf(lifetimeMs);
        const { renewAt, mustRenewAt } = momentsOf(life, someSettings({ renewBefore, safetyMargin }), {
          merchant: 'shop',
          jitter: 0.5,
        });
        return life.createdAt <= renewAt && renewAt <= mustRenewAt && mustRenewAt <= life.expiresAt;
      }),
    );
  });
});

describe('the lead time', () => {
  it('suffices when two attempts and a pause fit before the margin', () => {
    expect(leadTimeShortfall(momentsOf(lifeOf(900_000), someSettings(), unspread), someSettings())).toBeUndefined();
  });

  it('is reported with its numbers when they do not fit', () => {
    const shortfall = leadTimeShortfall(momentsOf(lifeOf(20_000), someSettings(), unspread), someSettings());
    expect(shortfall).toEqual({ leadMs: 9_000, neededMs: 11_000 });
  });
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const night = { from: '03:00', to: '05:00', timeZone: 'UTC' };

const at = (text: string): Instant => instantFromEpochMs(Date.parse(text));

function chosen(created: string, livesMs: number, place = 0.5): string | undefined {
  const createdAt = at(created);
  const moment = quietMoment({ createdAt, latestAt: plusMs(createdAt, livesMs), place }, night);
  return moment === undefined ? undefined : toRfc3339(moment).slice(0, 16);
}

describe('the moment in quiet hours', () => {
  const almostADay = DAY_MS - 5 * MINUTE_MS;
  const table: Readonly<Record<string, readonly [string, number, string | undefined]>> = {
    'is the own one of the merchant in the night that the session reaches': [
      '2026-06-01T12:00Z',
      almostADay,
      '2026-06-02T04:00',
    ],
    'is in the last night that it reaches': ['2026-06-01T12:00Z', 60 * HOUR_MS, '2026-06-03T04:00'],
    'is as late as the session lives when the own one is too late': [
      '2026-06-01T03:50Z',
      almostADay,
      '2026-06-02T03:45',
    ],
    'is none when the session ends before the night': ['2026-06-01T12:00Z', 8 * HOUR_MS, undefined],
    'is not in the night in which the session was created': ['2026-06-01T03:30Z', 8 * HOUR_MS, undefined],
    'is towards the end of that night when that spares a renewal by day': [
      '2026-06-01T03:02Z',
      almostADay,
      '2026-06-01T04:57',
    ],
    'is in this night for whoever would wake up before the next': [
      '2026-06-01T02:00Z',
      8 * HOUR_MS,
      '2026-06-01T04:00',
    ],
    'is not at once after the session was created': ['2026-06-01T02:59Z', almostADay, '2026-06-01T04:00'],
    'is none for sessions that do not outlive the night': ['2026-06-01T02:30Z', 2 * HOUR_MS, undefined],
  };

  it.each(Object.entries(table))('%s', (_name, [created, livesMs, expected]) => {
    expect(chosen(created, livesMs)).toBe(expected);
  });

  it('leaves a session alone for its first minutes, and takes the rest of the night for it', () => {
    expect(chosen('2026-06-01T02:59Z', almostADay, 0)).toBe('2026-06-01T03:06');
    expect(chosen('2026-06-01T02:59Z', almostADay, 0.999)).toBe('2026-06-01T04:59');
  });
});

/** Every renewal of one merchant, with each session living as long as the one before, until the time is over. */
function* renewals(start: Instant, livesMs: number, { times, place }: { times: DailyTimes; place: number }) {
  for (let createdAt = start; ;) {
    const latestAt = plusMs(createdAt, livesMs);
    const moment = quietMoment({ createdAt, latestAt, place }, times) ?? latestAt;
    yield { createdAt, moment, latestAt };
    createdAt = plusMs(moment, 300);
  }
}

function momentsOver(
  days: number,
  livesMs: number,
  merchant: { start: Instant; times: DailyTimes; place: number },
): Instant[] {
  const moments: Instant[] = [];
  for (const { moment } of renewals(merchant.start, livesMs, merchant)) {
    if (moment > merchant.start + days * DAY_MS) return moments;
    moments.push(moment);
  }
  return moments;
}

function perDay(moments: readonly Instant[], daily: DailyWindow): Map<string, number> {
  const days = new Map<string, number>();
  for (const moment of moments) {
    const { day } = daily.reading(moment);
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  return days;
}

const outside = (moments: readonly Instant[], daily: DailyWindow): Instant[] =>
  moments.filter((moment) => !daily.contains(moment) && !daily.contains(plusMs(moment, -1)));

const zones = ['Europe/Kyiv', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'] as const;
const inEachZone = zones.flatMap((timeZone) => [0.03, 0.5].map((place) => [timeZone, place] as const));
const start = at('2026-02-10T12:00Z');

describe('four hundred days with quiet hours', () => {
  it.each(inEachZone)('of sessions that outlive a day have one renewal each, in %s at place %d', (timeZone, place) => {
    const times = { ...night, timeZone };
    const daily = new DailyWindow(times);
    const moments = momentsOver(400, 26 * HOUR_MS, { start, times, place });
    expect(outside(moments, daily)).toEqual([]);
    expect([...perDay(moments, daily).values()].every((count) => count === 1)).toBe(true);
    expect(moments.length).toBeGreaterThanOrEqual(399);
  });

  it.each(inEachZone)('of a day less five minutes have none by day, in %s at place %d', (timeZone, place) => {
    const times = { ...night, timeZone };
    const daily = new DailyWindow(times);
    const moments = momentsOver(400, DAY_MS - 5 * MINUTE_MS, { start, times, place });
    expect(outside(moments, daily)).toEqual([]);
    const counts = [...perDay(moments, daily).values()];
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
    // Two hours contain 23 steps of five minutes; the clocks are changed twice.
    expect(counts.filter((count) => count === 2).length).toBeLessThanOrEqual(Math.ceil(400 / 20) + 3);
  });
});

describe('for any life of sessions, hours and place', () => {
  const hour = fc.integer({ min: 0, max: 23 }).map((each) => `${String(each).padStart(2, '0')}:00`);
  const merchant = fc
    .record({
      times: fc.record({ from: hour, to: hour, timeZone: fc.constantFrom(...zones) }),
      place: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      start: fc.integer({ min: 0, max: 400 * 24 * 60 }).map((minutes) => plusMs(start, minutes * MINUTE_MS)),
    })
    .filter(({ times: { from, to } }) => from !== to);
  const lives = fc.integer({ min: 10, max: 72 * 60 }).map((minutes) => minutes * MINUTE_MS);

  it('a renewal is never later than it would be without, and never at once', () => {
    fc.assert(
      fc.property(merchant, lives, (of, livesMs) => {
        let count = 0;
        for (const { createdAt, moment, latestAt } of renewals(of.start, livesMs, of)) {
          expect(moment).toBeLessThanOrEqual(latestAt);
          expect(msBetween(createdAt, moment)).toBeGreaterThanOrEqual(Math.min(livesMs, 5 * MINUTE_MS));
          if ((count += 1) > 20) return;
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('the place of a merchant', () => {
  const fleet = Array.from({ length: 100 }, (_, index) => `shop-${index}`);

  it('is the same for ever', () => {
    expect(placeOf('shop')).toBe(placeOf('shop'));
    expect(Math.floor(placeOf('shop') * 1_000)).toMatchInlineSnapshot(`5`);
  });

  it('spreads a fleet evenly over the window, whatever its ids look like', () => {
    const names = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
    fc.assert(
      fc.property(names, fc.constantFrom(10, 100, 1_000), (name, digits) => {
        const tenths = new Array<number>(10).fill(0);
        for (let index = 0; index < 1_000; index += 1) {
          const tenth = Math.floor(placeOf(`${name}-${digits + index}`) * 10);
          tenths[tenth] = (tenths[tenth] ?? 0) + 1;
        }
        // A hundred each on average; chance has a standard deviation of 9.5.
        expect(Math.min(...tenths)).toBeGreaterThan(50);
        expect(Math.max(...tenths)).toBeLessThan(150);
      }),
    );
  });

  it.each([
    ['that live for a day', DAY_MS - 5 * MINUTE_MS],
    ['that outlive one', 26 * HOUR_MS],
  ])('keeps the sessions of a fleet spread after ten days %s', (_name, livesMs) => {
    const quarters = [0, 0, 0, 0];
    for (const merchant of fleet) {
      const last = momentsOver(10, livesMs, { start, times: night, place: placeOf(merchant) }).at(-1) ?? start;
      const quarter = Math.floor(((last % DAY_MS) - 3 * HOUR_MS) / (30 * MINUTE_MS));
      quarters[quarter] = (quarters[quarter] ?? 0) + 1;
    }
    expect(quarters).toHaveLength(4);
    expect(Math.min(...quarters)).toBeGreaterThan(12);
  });
});
