import { type Instant, instantFromEpochMs, plusMs } from '#libs/clock';
import { aSession } from '#libs/testing';
import {
  type ClockSkew,
  exceedsTolerance,
  isImplausible,
  measureSkew,
  SKEW_TOLERANCE_MS,
  timedSteadily,
  toOurClock,
} from './clock-skew.js';
import type { IssuedSession } from './session.js';

const sentAt: Instant = instantFromEpochMs(1_000_000);
const receivedAt = plusMs(sentAt, 400);

const skewOf = (leastMs: number, mostMs: number): ClockSkew => ({ leastMs, likelyMs: 0, mostMs });

describe('the skew of the gateway’s clock', () => {
  it('is not known without a date', () => {
    expect(measureSkew({ sentAt, receivedAt })).toBeUndefined();
  });

  it('lies between what the exchange and the second that the date names leave open', () => {
    const gatewayDate = plusMs(sentAt, 5_000);
    expect(measureSkew({ sentAt, receivedAt, gatewayDate })).toEqual({
      leastMs: 4_600,
      likelyMs: 5_300,
      mostMs: 6_000,
    });
  });

  it.each([
    [SKEW_TOLERANCE_MS, 9_000, false],
    [SKEW_TOLERANCE_MS + 1, 9_000, true],
    [-9_000, -SKEW_TOLERANCE_MS, false],
    [-9_000, -SKEW_TOLERANCE_MS - 1, true],
  ])('is beyond the tolerance only where it certainly is: between %s and %s', (leastMs, mostMs, isBeyond) => {
    expect(exceedsTolerance(skewOf(leastMs, mostMs))).toBe(isBeyond);
  });

  it.each([
    [300_000, 400_000, false],
    [300_001, 400_000, true],
    [-400_000, -300_000, false],
    [-400_000, -300_001, true],
  ])('is implausible only where it is certainly larger than any: between %s and %s', (leastMs, mostMs, isBeyond) => {
    expect(isImplausible(skewOf(leastMs, mostMs), 300_000)).toBe(isBeyond);
  });
});

describe('a moment of the gateway on our clock', () => {
  const moment = plusMs(sentAt, 60_000);

  it.each<[string, ClockSkew | undefined, number]>([
    ['is taken as it is when nothing is known', undefined, 0],
    ['is brought forward inside the tolerance when the gateway may be ahead', skewOf(-100, 1_300), -1_300],
    ['is never put off inside the tolerance', skewOf(-1_900, -500), 0],
    ['is brought forward beyond it by all that the gateway may be ahead', skewOf(4_600, 6_000), -6_000],
    ['is put off beyond it by what the gateway is certainly behind', skewOf(-6_000, -4_600), 4_600],
  ])('%s', (_name, skew, movedMs) => {
    expect(toOurClock(moment, skew)).toBe(plusMs(moment, movedMs));
  });
});

describe('an exchange that was timed while our clock was set', () => {
  it('began as long before its end as the monotonic clock says, rounded up', () => {
    const issued = { ...aSession(), sentAt, receivedAt } as unknown as IssuedSession;
    expect(timedSteadily(issued, 250.2)).toEqual({ ...issued, sentAt: plusMs(receivedAt, -251) });
  });
});
