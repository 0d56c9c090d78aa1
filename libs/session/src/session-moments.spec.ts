import fc from 'fast-check';
import { msBetween, plusMs } from '#libs/clock';
import { aSession, someSettings } from '#libs/testing';
import { leadShareOf, leadTimeShortfall, momentsOf } from './session-moments.js';

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
  it('renews 20 % of the lifetime before expiry by default', () => {
    expect(leadAndMargin(900_000).leadMs).toBe(180_000);
  });

  it('renews at least two gateway timeouts before expiry', () => {
    expect(leadAndMargin(30_000).leadMs).toBe(10_000);
  });

  it('never renews before half of the lifetime has passed, or it would renew for ever', () => {
    expect(leadAndMargin(2_000).leadMs).toBe(1_000);
    const renewBefore = { kind: 'duration', durationMs: 3_600_000 } as const;
    expect(leadAndMargin(60_000, someSettings({ renewBefore })).leadMs).toBe(30_000);
  });

  it('leads by the share that others plan with, where there is no jitter', () => {
    const anyLead = fc.option(
      fc.oneof(
        fc.record({ kind: fc.constant('share' as const), share: fc.double({ min: 0.01, max: 0.5, noNaN: true }) }),
        fc.record({ kind: fc.constant('duration' as const), durationMs: fc.integer({ min: 1_000, max: 7_200_000 }) }),
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(fc.integer({ min: 60_000, max: 86_400_000 }), anyLead, (lifetimeMs, renewBefore) => {
        const settings = someSettings(renewBefore === undefined ? {} : { renewBefore });
        const plannedMs = leadShareOf(lifetimeMs, settings) * lifetimeMs;
        expect(Math.abs(plannedMs - leadAndMargin(lifetimeMs, settings).leadMs)).toBeLessThan(2);
      }),
    );
  });

  it('keeps a margin of 5 %, at most 30 s', () => {
    expect(leadAndMargin(300_000).marginMs).toBe(15_000);
    expect(leadAndMargin(86_400_000).marginMs).toBe(30_000);
  });

  it('takes both from the settings, as a share or as a duration', () => {
    const settings = someSettings({
      renewBefore: { kind: 'share', share: 0.4 },
      safetyMargin: { kind: 'duration', durationMs: 7_000 },
    });
    expect(leadAndMargin(100_000, settings)).toEqual({ leadMs: 40_000, marginMs: 7_000 });
  });

  it('lets jitter make a renewal earlier by up to 10 %, never later', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (jitter) => {
        const { leadMs } = leadAndMargin(900_000, someSettings(), jitter);
        return leadMs >= 180_000 && leadMs <= 198_000;
      }),
    );
  });

  it('bounds the age by renewEvery, and spreads it as it does the lead', () => {
    const settings = someSettings({ renewEveryMs: 28_800_000 });
    expect(leadAndMargin(86_400_000, settings).leadMs).toBe(57_600_000);
    expect(leadAndMargin(86_400_000, settings, 0.5).leadMs).toBe(57_600_000 + 864_000);
    expect(leadAndMargin(3_600_000, settings).leadMs).toBe(720_000);
  });

  it('has a default lead of at most five minutes with quiet hours, and of two gateway timeouts at least', () => {
    const quietHours = { from: '03:00', to: '05:00', timeZone: 'UTC' };
    // Too short to reach the next night: it is renewed as late as safety allows, by its merchant's place.
    const leadMs = (settings: object): number =>
      leadAndMargin(3_600_000, someSettings({ quietHours, ...settings }), 0.9).leadMs;
    expect(leadMs({})).toBeGreaterThanOrEqual(300_000);
    expect(leadMs({})).toBeLessThanOrEqual(330_000);
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
