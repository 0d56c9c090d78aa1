import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { hardestNights, outageBeganIn } from './hardest-nights.js';
import { simulate, type SimulationSetup } from './simulation.js';
import { played } from './trials.js';

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

const gapIn = async (setup: SimulationSetup): Promise<number> => (await played(setup)).withoutSessionMs;

describe('an outage in quiet hours', () => {
  it('is played on the nights that find least of a session, in runs that anybody can repeat', async () => {
    const setup = nightly(10, 30 * MINUTE_MS);
    expect(await gapIn(setup)).toBe(0);
    const nights = await hardestNights(setup);
    expect(nights.map(({ durationMs }) => durationMs % HOUR_MS)).toEqual([0, 0]);
    const gaps = await Promise.all(nights.map(gapIn));
    expect(Math.max(...gaps)).toBeGreaterThan(25 * MINUTE_MS);
    for (const night of nights) {
      const began = outageBeganIn(await simulate(night), night).outageBegan;
      expect(began).toMatchObject({ time: expect.stringMatching(/^0[23]:/) });
    }
  });

  it('leaves none without a session that the run of another length would show', async () => {
    for (const outageMs of [10 * MINUTE_MS, 30 * MINUTE_MS, 3 * HOUR_MS]) {
      for (const days of [1, 2, 3, 7, 8, 9, 10, 11, 12]) {
        const setup = nightly(days, outageMs);
        const gaps = await Promise.all([setup, ...(await hardestNights(setup))].map(gapIn));
        expect(Math.max(...gaps)).toBeGreaterThan(0.8 * (outageMs - 5 * MINUTE_MS));
      }
    }
  });

  it('is played once where the lead time bridges it on every night, and where there are no quiet hours', async () => {
    const setup = nightly(10, 30 * MINUTE_MS);
    const withSettings = (more: Partial<SimulationSetup['settings']>): SimulationSetup => ({
      ...setup,
      settings: { ...setup.settings, ...more },
    });
    const bridged = withSettings({ renewBefore: { kind: 'duration', durationMs: 35 * MINUTE_MS } });
    expect(await hardestNights(bridged)).toEqual([]);
    expect(await hardestNights(withSettings({ quietHours: undefined }))).toEqual([]);
    expect(await hardestNights(nightly(10, 0))).toEqual([]);
  });
});
