import fc from 'fast-check';
import { instantFromEpochMs, msBetween, plusMs } from '#libs/clock';
import { anIssuedSession, aSession, someSettings } from '#libs/testing';
import { exceedsTolerance, measureSkew, toOurClock } from './clock-skew.js';
import { GatewayFailure } from './gateway-failure.js';
import { admit } from './session-admission.js';

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
    expect(admit(issued, facts).expiresAt).toBe(plusMs(sentAt, 900_000));
  });

  it.each([0, -1, -3_600_000])('refuses a session that expires %d ms after it arrived', (leftMs) => {
    const issued = anIssuedSession({ expiresAt: plusMs(sentAt, leftMs) });
    expect(() => admit(issued, facts)).toThrow(GatewayFailure);
    expect(() => admit(issued, facts)).toThrow(expect.objectContaining({ kind: 'invalid_response' }));
  });

  it('judges the expiry by the gateway clock when ours is an hour ahead', () => {
    const gatewayNow = plusMs(sentAt, -3_600_000);
    const issued = anIssuedSession({ gatewayDate: gatewayNow, expiresAt: plusMs(gatewayNow, 900_000) });
    const leftMs = msBetween(sentAt, admit(issued, facts).expiresAt);
    expect(leftMs).toBeLessThanOrEqual(900_000);
    expect(leftMs).toBeGreaterThanOrEqual(898_000);
  });

  it('judges the expiry by the gateway clock when ours is an hour behind', () => {
    const gatewayNow = plusMs(sentAt, 3_600_000);
    const issued = anIssuedSession({ gatewayDate: gatewayNow, expiresAt: plusMs(gatewayNow, 900_000) });
    expect(msBetween(sentAt, admit(issued, facts).expiresAt)).toBeLessThanOrEqual(900_000);
  });
});

describe('the skew between the clocks', () => {
  it('is unknown without a Date header', () => {
    expect(measureSkew(anIssuedSession())).toBeUndefined();
    expect(toOurClock(sentAt, undefined)).toBe(sentAt);
  });

  it('is within the tolerance when the clocks agree, although the header has whole seconds', () => {
    const now = instantFromEpochMs(Date.parse('2026-01-01T00:00:00.999Z'));
    const gatewayDate = instantFromEpochMs(Date.parse('2026-01-01T00:00:00.000Z'));
    const skew = measureSkew(anIssuedSession({ sentAt: now, receivedAt: now, gatewayDate }));
    expect(skew !== undefined && exceedsTolerance(skew)).toBe(false);
  });

  it('never makes a session live longer than it really does', () => {
    const upTo = (max: number, min = 0) => fc.integer({ min, max });
    const exchange = fc.record({
      aheadMs: upTo(86_400_000, -86_400_000),
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
        if (skew === undefined || !exceedsTolerance(skew)) return true;
        const gatewayExpiry = plusMs(stampedByGateway, 60_000);
        const trueExpiry = plusMs(gatewayExpiry, -aheadMs);
        return toOurClock(gatewayExpiry, skew) <= trueExpiry;
      }),
    );
  });
});
