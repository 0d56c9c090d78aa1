import { instantFromEpochMs, msBetween, plusMs } from '#libs/clock';
import { anIssuedSession, aSession, someSettings } from '#libs/testing';
import { GatewayFailure } from './gateway-failure.js';
import {
  admit,
  type ClockSkew,
  exceedsTolerance,
  implausibleTimes,
  measureSkew,
  SKEW_TOLERANCE_MS,
  timedSteadily,
  toOurClock,
} from './session-admission.js';
import fc from 'fast-check';

const { createdAt: sentAt } = aSession();
const facts = { merchant: 'shop', generation: 42, settings: someSettings(), jitter: 0 };

describe('admitting what the gateway issued', () => {
  it('keeps every part and adds the generation and the moments', () => {
    const issued = anIssuedSession({ expiresAt: plusMs(sentAt, 900_000), refreshToken: 'r' });
    const session = admit(issued, facts);
    expect(session).toMatchObject({
      merchant: 'shop',
      generation: 42,
      authToken: issued.authToken,
      deviceId: issued.deviceId,
      refreshToken: 'r',
      serverPublic: issued.serverPublic,
      expiresAt: plusMs(sentAt, 900_000),
      renewAt: plusMs(sentAt, 720_000),
    });
  });

  it('leaves the refresh token out when the form has none', () => {
    expect(admit(anIssuedSession({ expiresAt: plusMs(sentAt, 900_000) }), facts)).not.toHaveProperty('refreshToken');
  });

  it('counts the fallback lifetime from when the request was sent, not from when the answer came', () => {
    const issued = anIssuedSession({ receivedAt: plusMs(sentAt, 4_000) });
    expect(admit(issued, facts).expiresAt).toBe(plusMs(sentAt, 28_800_000));
  });

  it('refuses one that is over by either clock, where the two cannot both be right', () => {
    const issued = anIssuedSession({ gatewayDate: plusMs(sentAt, 3_600_000), expiresAt: plusMs(sentAt, -1) });
    expect(() => admit(issued, facts)).toThrow(expect.objectContaining({ kind: 'invalid_response' }));
  });

  it.each([0, -1, -3_600_000])('refuses a session that expires %d ms after it arrived', (leftMs) => {
    const issued = anIssuedSession({ expiresAt: plusMs(sentAt, leftMs), requestId: 'r-1' });
    expect(() => admit(issued, facts)).toThrow(GatewayFailure);
    expect(() => admit(issued, facts)).toThrow(
      expect.objectContaining({
        kind: 'invalid_response',
        trace: { mark: 'ERR_BROKER_PAST_EXPIRY', lostSession: true, requestId: 'r-1' },
      }),
    );
  });
});

const YEAR_MS = 31_536_000_000;

/** An answer of a gateway whose `Date` is this far ahead of ours, for a session that by our clock lives this long. */
const datedAnswer = (aheadMs: number, lifetimeMs: number) =>
  anIssuedSession({ gatewayDate: plusMs(sentAt, aheadMs), expiresAt: plusMs(sentAt, lifetimeMs) });

describe('time in an answer that cannot be believed', () => {
  const table: Record<string, [ReturnType<typeof anIssuedSession>, number]> = {
    'a Date an hour ahead, an expiry by our clock': [datedAnswer(3_600_000, 900_000), 900_000],
    'a Date a year ahead, an expiry by our clock': [datedAnswer(YEAR_MS, 900_000), 900_000],
    'a Date a year behind, an expiry by our clock': [datedAnswer(-YEAR_MS, 900_000), 900_000],
    'a Date and an expiry an hour ahead': [datedAnswer(3_600_000, 4_500_000), 899_000],
    'a Date and an expiry a year ahead': [datedAnswer(YEAR_MS, YEAR_MS + 900_000), 899_000],
    'a Date and an expiry a year behind': [datedAnswer(-YEAR_MS, 900_000 - YEAR_MS), 899_000],
  };

  it.each(Object.entries(table))('leaves a session to serve: %s', (_name, [issued, leftMs]) => {
    expect(msBetween(sentAt, admit(issued, facts).expiresAt)).toBe(leftMs);
    expect(implausibleTimes(issued, facts.settings)).toContainEqual(
      expect.objectContaining({ kind: 'skew', mostMs: 300_000 }),
    );
  });

  it('never lets a session live longer than the longest lifetime, from when the request was sent', () => {
    const expiresAt = instantFromEpochMs(Date.parse('9999-12-31T23:59:59.000Z'));
    const issued = anIssuedSession({ expiresAt, receivedAt: plusMs(sentAt, 4_000) });
    const settings = someSettings({ longestLifetimeMs: 3_600_000 });
    expect(admit(issued, { ...facts, settings }).expiresAt).toBe(plusMs(sentAt, 3_600_000));
    expect(implausibleTimes(issued, settings)).toEqual([
      { kind: 'lifetime', statedMs: msBetween(issued.receivedAt, expiresAt), mostMs: 3_600_000 },
    ]);
  });

  it('holds for the fallback lifetime as well', () => {
    const settings = someSettings({ longestLifetimeMs: 60_000 });
    expect(admit(anIssuedSession(), { ...facts, settings }).expiresAt).toBe(plusMs(sentAt, 60_000));
  });

  it('is not reported where clocks are no further apart than clocks usually are', () => {
    expect(implausibleTimes(datedAnswer(240_000, 900_000), facts.settings)).toEqual([]);
    expect(implausibleTimes(datedAnswer(-1_500, 86_400_000), facts.settings)).toEqual([]);
    expect(implausibleTimes(anIssuedSession(), facts.settings)).toEqual([]);
  });

  it.each([
    [300_000, false],
    [300_001, true],
    [-301_000, false],
    [-301_001, true],
  ])(
    'begins where the clocks are certainly further apart than the largest skew: a Date %d ms ahead',
    (aheadMs, isTold) => {
      const kinds = implausibleTimes(datedAnswer(aheadMs, 900_000), facts.settings).map(({ kind }) => kind);
      expect(kinds).toEqual(isTold ? ['skew'] : []);
    },
  );

  it.each([
    [86_402_000, false],
    [86_402_001, true],
  ])('leaves a lifetime the tolerance of the clocks before a person hears of it: %d ms', (lifetimeMs, isTold) => {
    const issued = anIssuedSession({ expiresAt: plusMs(sentAt, lifetimeMs) });
    expect(implausibleTimes(issued, facts.settings)).toHaveLength(isTold ? 1 : 0);
    expect(admit(issued, facts).expiresAt).toBe(plusMs(sentAt, 86_400_000));
  });

  it('never serves for longer than the longest lifetime, by any clock', () => {
    const aheadMs = fc.integer({ min: -2 * YEAR_MS, max: 2 * YEAR_MS });
    const lifetimeMs = fc.integer({ min: 1, max: 3 * YEAR_MS });
    fc.assert(
      fc.property(aheadMs, lifetimeMs, (ahead, lifetime) => {
        const leftMs = msBetween(
          sentAt,
          admit(datedAnswer(ahead, lifetime + Math.max(0, ahead) + 2_000), facts).expiresAt,
        );
        return leftMs > 0 && leftMs <= facts.settings.longestLifetimeMs;
      }),
    );
  });
});

const receivedAt = plusMs(sentAt, 400);

const skewOf = (leastMs: number, mostMs: number): ClockSkew => ({ leastMs, likelyMs: 0, mostMs });

describe('the skew between the clocks', () => {
  it('is unknown without a Date header', () => {
    expect(measureSkew(anIssuedSession())).toBeUndefined();
    expect(toOurClock(sentAt, undefined)).toBe(sentAt);
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

  it('never makes a session live longer than it really does', () => {
    const upTo = (max: number, min = 0) => fc.integer({ min, max });
    const exchange = fc.record({
      aheadMs: fc.oneof(upTo(86_400_000, -86_400_000), upTo(2_500, -2_500)),
      phaseMs: upTo(999),
      out: upTo(5_000),
      back: upTo(5_000),
    });
    fc.assert(
      fc.property(exchange, ({ aheadMs, phaseMs, out, back }) => {
        const sent = plusMs(sentAt, phaseMs);
        const stampedByGateway = plusMs(sent, out + aheadMs);
        const gatewayDate = instantFromEpochMs(Math.floor(stampedByGateway / 1_000) * 1_000);
        const receivedAt = plusMs(sent, out + back);
        const skew = measureSkew(anIssuedSession({ sentAt: sent, receivedAt, gatewayDate }));
        if (skew === undefined) return false;
        // The gateway's clock is behind ours, but within the tolerance: the moment is not moved later, and so is safe.
        if (!exceedsTolerance(skew) && aheadMs < 0) return toOurClock(sent, skew) <= sent;
        const gatewayExpiry = plusMs(stampedByGateway, 60_000);
        const trueExpiry = plusMs(gatewayExpiry, -aheadMs);
        return toOurClock(gatewayExpiry, skew) <= trueExpiry;
      }),
    );
  });
});

describe('an exchange during which our wall clock was set', () => {
  it.each([-3_600_000, -250, 3_600_000])(
    'by %d ms began as long before its end as the monotonic clock says',
    (setByMs) => {
      const end = plusMs(sentAt, 300 + setByMs);
      const answer = anIssuedSession({
        sentAt,
        receivedAt: end,
        gatewayDate: sentAt,
        expiresAt: plusMs(sentAt, 15_000),
      });
      const timed = timedSteadily(answer, 299.2);
      expect(timed).toEqual({ ...answer, sentAt: plusMs(end, -300) });
      const settings = someSettings({ largestClockSkewMs: 7_200_000 });
      const session = admit(timed, { ...facts, settings });
      const livesMs = msBetween(session.createdAt, session.expiresAt);
      expect(livesMs).toBeLessThanOrEqual(15_000);
      expect(livesMs).toBeGreaterThan(15_000 - 2 * SKEW_TOLERANCE_MS);
    },
  );
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
