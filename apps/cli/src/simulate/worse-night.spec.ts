import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { figuresOf } from './figures.js';
import { simulate, type SimulationSetup } from './simulation.js';
import { played } from './trials.js';
import { outageBeganIn, worseNight } from './worse-night.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const quietHours = { from: '02:00', to: '04:00', timeZone: 'Europe/Kyiv' };

const nightly = (days: number, outageMs: number): SimulationSetup => ({
  ...{ merchant: 'shop', startsAt: instantFromEpochMs(Date.parse('2026-10-20T00:00:00Z')), replicas: 1, seed: 1 },
  durationMs: days * DAY_MS,
  settings: someSettings({ quietHours, gatewayTimeoutMs: 2_000 }),
  behaviour: { lifetimeMs: DAY_MS, latencyMs: 300, failureShare: 0, outageMs },
});

describe('an outage in quiet hours', () => {
  it('is played on a night that finds less of a session, in the run that anybody can repeat', async () => {
    const setup = nightly(10, 30 * MINUTE_MS);
    const before = await played(setup);
    expect(before.withoutSessionMs).toBe(0);
    const worse = await worseNight(setup, before);
    expect(worse?.figures.withoutSessionMs).toBeGreaterThan(25 * MINUTE_MS);
    const repeated = { ...setup, durationMs: worse?.setup.durationMs ?? 0 };
    const log = await simulate(repeated);
    expect(figuresOf(log, repeated.durationMs, repeated.settings)).toEqual(worse?.figures);
    expect(outageBeganIn(log, repeated)).toEqual({ outageBegan: worse?.outageBegan });
    expect(repeated.durationMs % MINUTE_MS).toBe(0);
  });

  it('leaves none without a session that the run of another length would show', async () => {
    for (const outageMs of [10 * MINUTE_MS, 30 * MINUTE_MS, 3 * HOUR_MS]) {
      for (const days of [1, 2, 3, 7, 8, 9, 10, 11, 12]) {
        const setup = nightly(days, outageMs);
        const before = await played(setup);
        const worst = (await worseNight(setup, before))?.figures ?? before;
        expect(worst.withoutSessionMs).toBeGreaterThan(0.8 * (outageMs - 5 * MINUTE_MS));
      }
    }
  }, 60_000);

  it('is played once where the lead time bridges it on every night, and where there are no quiet hours', async () => {
    const setup = nightly(10, 30 * MINUTE_MS);
    const none = { withoutSessionMs: 0, sessions: 10 };
    const withSettings = (more: Partial<SimulationSetup['settings']>): SimulationSetup => ({
      ...setup,
      settings: { ...setup.settings, ...more },
    });
    const bridged = withSettings({ renewBefore: { kind: 'duration', durationMs: 35 * MINUTE_MS } });
    expect(await worseNight(bridged, none)).toBeUndefined();
    expect(await worseNight(withSettings({ quietHours: undefined }), none)).toBeUndefined();
    expect(await worseNight(nightly(10, 0), none)).toBeUndefined();
  });
});
