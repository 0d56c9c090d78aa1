import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import type { ScheduleFigures } from './figures.js';
import { impossibleQuietHours } from './quiet-hours-warning.js';
import type { SimulationSetup } from './simulation.js';
import { played } from './trials.js';
import { textOf } from './wording.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const quietHours = { from: '03:00', to: '05:00', timeZone: 'UTC' };

const nightly = (lifetimeMs: number, more: Partial<SimulationSetup['settings']> = {}): SimulationSetup => ({
  ...{ merchant: 'shop', startsAt: instantFromEpochMs(Date.parse('2026-06-01T00:00:00Z')), replicas: 1, seed: 1 },
  durationMs: 4 * DAY_MS,
  settings: someSettings({ quietHours, ...more }),
  behaviour: { lifetimeMs, latencyMs: 300, failureShare: 0, outageMs: 0 },
});

const warned = (setup: SimulationSetup, figures: ScheduleFigures): string =>
  textOf(impossibleQuietHours([{ setup, figures }]));

const warningOf = async (setup: SimulationSetup): Promise<string> => warned(setup, await played(setup));

describe('quiet hours that sessions do not live long enough for', () => {
  it('are told with the renewals outside of them, with what is long enough, and with the lead that they cost', async () => {
    const setup = nightly(HOUR_MS);
    const figures = await played(setup);
    expect(warned(setup, figures)).toBe(
      `sessions of 1h cannot be renewed within 2h a day: ${figures.outsideQuietHours} of ${figures.sessions - 1} renewals were outside of the quiet hours. ` +
        'Leave session.quietHours out, or ask the bank for sessions of 22h 10m or longer. With quiet hours the lead time is 5m, without 12m',
    );
  });

  it('are so up to the length that the warning names, and not from there on', async () => {
    for (const to of ['03:30', '05:00', '09:00']) {
      const of = (lifetimeMs: number): SimulationSetup => nightly(lifetimeMs, { quietHours: { ...quietHours, to } });
      const [, hours, minutes = 0] =
        / sessions of (\d+)h(?: (\d+)m)? or longer/.exec(await warningOf(of(10 * HOUR_MS))) ?? [];
      const enoughMs = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
      const enough = await played(of(enoughMs));
      expect(enough.outsideQuietHours).toBe(0);
      expect(warned(of(enoughMs), enough)).toBe('');
      const short = await played(of(enoughMs - 10 * MINUTE_MS));
      expect(short.outsideQuietHours).toBeGreaterThan(0);
      expect(warned(of(enoughMs - 10 * MINUTE_MS), short)).toMatch(/ cannot be renewed within /);
    }
  });

  it('blame the setting that makes them so, where one does', async () => {
    const lead = { kind: 'duration', durationMs: 3 * HOUR_MS } as const;
    expect(await warningOf(nightly(DAY_MS, { renewBefore: lead }))).toMatch(
      /^sessions of 1d with a lead time of 3h cannot .* Set a session\.renewBefore that is shorter than the quiet hours, or /,
    );
    expect(await warningOf(nightly(DAY_MS, { renewEveryMs: 8 * HOUR_MS }))).toMatch(
      /^sessions of 1d with a session\.renewEvery of 8h cannot .* Leave session\.renewEvery out, or session\.quietHours$/,
    );
    expect(await warningOf(nightly(20 * HOUR_MS, { longestLifetimeMs: 20 * HOUR_MS }))).toMatch(
      / Leave session\.quietHours out\. With quiet hours the lead time is 5m, without 4h$/,
    );
  });

  it('are not told of where one renewal after an outage was outside', () => {
    const figures = { outsideQuietHours: 1, sessions: 5 } as ScheduleFigures;
    expect(warned(nightly(DAY_MS), figures)).toBe('');
    expect(warned(nightly(HOUR_MS), figures)).toMatch(/: 1 of 4 renewals were outside /);
  });
});
