import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { figuresOf, type Played } from './figures.js';
import type { GatewayBehaviour, SimulationSetup } from './played-gateway.js';
import { simulate } from './simulation.js';
import { warningsOf } from './warnings.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Changes {
  readonly settings?: Partial<SimulationSetup['settings']>;
  readonly behaviour?: Partial<GatewayBehaviour>;
  readonly run?: Partial<SimulationSetup>;
}

/** A day of sessions of eight hours, in which nothing is wrong. */
async function play({ settings, behaviour, run }: Changes = {}): Promise<Played> {
  const setup: SimulationSetup = {
    ...{ merchant: 'shop', startsAt: instantFromEpochMs(Date.parse('2026-06-01T00:00:00Z')), replicas: 1, seed: 1 },
    ...{ durationMs: DAY_MS, ...run },
    settings: someSettings({ budget: [{ calls: 20, perMs: 10 * MINUTE_MS }], ...settings }),
    behaviour: { lifetimeMs: 8 * HOUR_MS, latencyMs: 300, failureShare: 0, outageMs: 0, ...behaviour },
  };
  const log = await simulate(setup);
  return { setup, log, figures: figuresOf(log, setup) };
}

const warned = async (changes: Changes): Promise<readonly string[]> => warningsOf([await play(changes)]);

describe('the warnings of a simulated schedule', () => {
  it('are none where nothing is wrong', async () => {
    expect(await warned({})).toEqual([]);
  });

  const table: Readonly<Record<string, readonly [Changes, string]>> = {
    'time without a session': [{ behaviour: { outageMs: 3 * HOUR_MS } }, 'there was no session for 1h 30m'],
    'every call that fails': [
      { behaviour: { failureShare: 1 }, run: { durationMs: 10 * MINUTE_MS } },
      'every create call failed: there never was a session',
    ],
    'calls that take longer than the time-out': [
      { settings: { gatewayTimeoutMs: 5_000 }, behaviour: { latencyMs: 4_500, lifetimeMs: HOUR_MS } },
      'create calls took longer than gateway.timeout (5s): with a latency of 4500ms one takes up to 6750ms; raise it, or ask the bank why its answers take so long',
    ],
    'a run with next to no renewals': [
      { behaviour: { lifetimeMs: DAY_MS } },
      'fewer than 3 renewals were played, which says little of later ones: give --for 4d',
    ],
    'clocks that are too far apart': [
      { settings: { largestClockSkewMs: 5 * MINUTE_MS }, behaviour: { skewMs: 10 * MINUTE_MS } },
      "the clocks are further apart than gateway.largestClockSkew (5m): the gateway's is not believed, and sessions may be taken for shorter than they are; set the clocks right",
    ],
    'a lead time that is cut to half of the life': [
      { settings: { renewBefore: { kind: 'duration', durationMs: 5 * HOUR_MS } } },
      "session.renewBefore is 5h, more than half of the session's life: sessions are renewed 4h before they end",
    ],
    'a lead time that is too short for two attempts': [
      {
        settings: { gatewayTimeoutMs: 60_000, safetyMargin: { kind: 'duration', durationMs: 0 } },
        behaviour: { lifetimeMs: 200_000 },
        run: { durationMs: HOUR_MS },
      },
      'raise session.renewBefore, lower gateway.timeout, or ask the bank for longer sessions: two attempts take 2m 1s, and the lead time is 1m 40s',
    ],
    'an outage that outlasts the run': [
      { behaviour: { outageMs: 20 * HOUR_MS } },
      'the outage of 20h was not played to its end: it begins with the first renewal after half of the run; give --for 3d',
    ],
  };

  it.each(Object.entries(table))('tell of %s', async (_name, [changes, warning]) => {
    expect(await warned(changes)).toContain(`shop: ${warning}`);
  });

  it('name the budget, and not a longer run, where it kept the outage from being played', async () => {
    const budget = [{ calls: 6, perMs: DAY_MS }];
    expect(
      await warned({
        settings: { budget },
        behaviour: { lifetimeMs: 15 * MINUTE_MS, outageMs: 10 * MINUTE_MS },
        run: { durationMs: 12 * HOUR_MS },
      }),
    ).toContain(
      'shop: the outage of 10m was not played: it begins with the first renewal after half of the run, which a spent session.budget held up: play it without --outage first',
    );
  });

  it('name several merchants once, and the longest of what differs between them', async () => {
    const lost = { outageMs: 3 * HOUR_MS };
    const one = await play({ behaviour: lost });
    const other = await play({ behaviour: lost, run: { merchant: 'other' } });
    const well = await play({ run: { merchant: 'well' } });
    expect(warningsOf([one, well, other])).toEqual([
      expect.stringMatching(/^2 of 3 \(shop, other\): there was no session for at most \dh \d+m$/),
    ]);
    const many = ['a', 'b', 'c', 'd', 'e'].map((merchant) => ({ ...one, setup: { ...one.setup, merchant } }));
    expect(warningsOf(many)).toEqual(['all 5 (a, b, c and 2 more): there was no session for 1h 30m']);
  });
});

describe('the warning of quiet hours that are not kept', () => {
  const quietHours = { from: '03:00', to: '05:00', timeZone: 'UTC' };
  const nightly = (lifetimeMs: number, settings: Changes['settings'] = {}): Promise<readonly string[]> =>
    warned({
      settings: { quietHours, ...settings },
      behaviour: { lifetimeMs },
      run: { durationMs: 4 * DAY_MS },
    });

  it('names the life that sessions need for them, and it suffices', async () => {
    for (const to of ['03:30', '05:00', '09:00']) {
      const night = { quietHours: { ...quietHours, to } };
      const [warning = ''] = await nightly(10 * HOUR_MS, night);
      expect(warning).toMatch(
        /^shop: sessions are also renewed outside session\.quietHours: with a lead time of 5m they /,
      );
      const [, hours, minutes = 0] = / have to live for (\d+)h(?: (\d+)m)?;/.exec(warning) ?? [];
      const enoughMs = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
      expect(await nightly(enoughMs, night)).toEqual([]);
      expect(await nightly(enoughMs - 10 * MINUTE_MS, night)).toEqual([warning]);
    }
  });

  it('blames session.renewEvery where that makes them too short', async () => {
    expect(await nightly(DAY_MS, { renewEveryMs: 8 * HOUR_MS })).toEqual([
      'shop: sessions are also renewed outside session.quietHours: session.renewEvery (8h) is too short for that; leave one of the two out',
    ]);
  });

  it('is not given for a single renewal after an outage', async () => {
    const played = await play({
      settings: { quietHours },
      behaviour: { lifetimeMs: DAY_MS },
      run: { durationMs: 4 * DAY_MS },
    });
    expect(warningsOf([{ ...played, figures: { ...played.figures, outsideQuietHours: 1 } }])).toEqual([]);
  });
});
