import { DailyWindow, instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { figuresOf } from './figures.js';
import type { GatewayBehaviour, SimulationSetup } from './played-gateway.js';
import { renewalDays } from './timeline.js';
import { simulate, type SimulationLog } from './simulation.js';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const RUN_MS = 240 * MINUTE_MS;
const settings = someSettings({ budget: [{ calls: 20, perMs: 10 * MINUTE_MS }], gatewayTimeoutMs: 5_000 });
const well: GatewayBehaviour = { lifetimeMs: 15 * MINUTE_MS, latencyMs: 300, failureShare: 0, outageMs: 0 };

const play = (behaviour: Partial<GatewayBehaviour> = {}, more: Partial<SimulationSetup> = {}): Promise<SimulationLog> =>
  simulate({
    merchant: 'demo',
    startsAt: instantFromEpochMs(Date.parse('2026-10-20T12:00:00Z')),
    settings,
    replicas: 3,
    durationMs: RUN_MS,
    seed: 7,
    behaviour: { ...well, ...behaviour },
    ...more,
  });

describe('a simulated schedule', () => {
  it('has one create call for each renewal, whatever the number of replicas', async () => {
    const [one, many] = await Promise.all([play({}, { replicas: 1 }), play({}, { replicas: 5 })]);
    for (const { callsAtMs, sessions } of [one, many]) {
      expect(sessions).toHaveLength(callsAtMs.length);
      // 80 % of 15 minutes, less up to a tenth of the lead time.
      expect(callsAtMs.length).toBeGreaterThanOrEqual(20);
      expect(callsAtMs.length).toBeLessThanOrEqual(21);
    }
    expect(figuresOf(many, { durationMs: RUN_MS, settings })).toMatchObject({
      withoutSessionMs: 0,
      pastMarginMs: 0,
      failures: {},
    });
  });

  it('has no gap for an outage that the lead time bridges, and one as long as the rest for a longer one', async () => {
    const bridged = figuresOf(await play({ outageMs: MINUTE_MS }), { durationMs: RUN_MS, settings });
    expect(bridged).toMatchObject({ withoutSessionMs: 0, failures: { transient: expect.any(Number) } });
    const longer = figuresOf(await play({ outageMs: 10 * MINUTE_MS }), { durationMs: RUN_MS, settings });
    // A lead time of 3 to 3.3 minutes, and back-off or budget after it.
    expect(longer.withoutSessionMs).toBeGreaterThan(6.7 * MINUTE_MS);
    expect(longer.withoutSessionMs).toBeLessThan(12 * MINUTE_MS);
    expect(longer.worstRemainingMs).toBe(-longer.withoutSessionMs);
  });

  it('has a renewal every night, one more in the night whose day is longer than a session, and none by day', async () => {
    const quietHours = { from: '03:00', to: '05:00', timeZone: 'Europe/Kyiv' };
    const nightly = someSettings({ quietHours });
    const log = await play({ lifetimeMs: DAY_MS }, { settings: nightly, durationMs: 10 * DAY_MS });
    const [first, ...nights] = renewalDays(log, quietHours);
    expect(first).toEqual({ day: '2026-10-20', calls: [{ time: '15:00', isQuiet: false }] });
    expect(nights.map(({ day, calls }) => [day.slice(8), calls.map(({ isQuiet }) => isQuiet)])).toEqual(
      ['21', '22', '23', '24', '25', '26', '27', '28', '29', '30'].map((day) => [
        day,
        day === '25' ? [true, true] : [true],
      ]),
    );
    const daily = new DailyWindow(quietHours);
    expect(log.sessions.slice(1).every(({ session }) => daily.contains(session.createdAt))).toBe(true);
  });
});
