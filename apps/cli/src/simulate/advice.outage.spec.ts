import fc from 'fast-check';
import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { changed } from './change.js';
import { tryChanges } from './changes.js';
import { bridgesWhereverItBegins, hasCallsToSpare } from './needed-lead.js';
import { hardestNights } from './hardest-nights.js';
import type { WindowFigures } from './figures.js';
import type { SimulationSetup } from './simulation.js';
import { otherRuns } from './situations.js';
import { bridges, played, type PlayedRun, type Tried } from './trials.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const quietHours = { from: '03:00', to: '05:00', timeZone: 'Europe/Kyiv' };
const budget = [
  { calls: 20, perMs: 10 * MINUTE_MS },
  { calls: 60, perMs: DAY_MS },
];

const nightly = (outageMs: number, more: Partial<SimulationSetup> = {}): SimulationSetup => ({
  ...{ merchant: 'shop', startsAt: instantFromEpochMs(Date.parse('2026-10-20T00:00:00Z')), replicas: 1, seed: 1 },
  durationMs: 10 * DAY_MS,
  settings: someSettings({ quietHours, budget }),
  behaviour: { lifetimeMs: DAY_MS, latencyMs: 300, failureShare: 0, outageMs },
  ...more,
});

/** Offsets in hours from the length of the run that the advice comes from. */
const OTHER_LENGTHS = [-24, -5, 24];

async function adviceFor(setup: SimulationSetup): Promise<readonly Tried[]> {
  const before: PlayedRun[] = [];
  for (const run of [setup, ...(await hardestNights(setup)), ...otherRuns(setup)]) {
    before.push({ setup: run, figures: await played(run) });
  }
  return (await tryChanges(before)).tried;
}

/** What is lost in runs of other lengths: in each, the outage begins with another renewal. */
async function lostInOtherRuns(setup: SimulationSetup, { changes }: Tried): Promise<readonly number[]> {
  const lost: number[] = [];
  for (const hours of OTHER_LENGTHS) {
    const run = { ...changed(setup, changes), durationMs: setup.durationMs + hours * HOUR_MS };
    lost.push((await played(run)).withoutSessionMs);
  }
  return lost;
}

describe('a lead time that is said to bridge an outage', () => {
  it('bridges it although it begins with another renewal of the quiet hours', async () => {
    const setup = nightly(3 * HOUR_MS);
    const told = (await adviceFor(setup)).filter(bridges);
    expect(told.map(({ changes }) => changes)).toEqual([[{ of: 'lead', share: 0.2 }]]);
    for (const one of told) expect(await lostInOtherRuns(setup, one)).toEqual([0, 0, 0]);
  });

  it('leaves the renewals in the quiet hours where one that is as long as the outage and some does', async () => {
    for (const [outageMs, leadMs] of [
      [10 * MINUTE_MS, 15 * MINUTE_MS],
      [30 * MINUTE_MS, 35 * MINUTE_MS],
      [90 * MINUTE_MS, 95 * MINUTE_MS],
    ] as const) {
      const setup = nightly(outageMs);
      const [told] = (await adviceFor(setup)).filter(bridges);
      expect(told).toMatchObject({ changes: [{ of: 'leadTime', leadMs }], own: { outsideQuietHours: 0 } });
      if (told !== undefined) expect(await lostInOtherRuns(setup, told)).toEqual([0, 0, 0]);
    }
  });

  it('bridges it in runs of every other length, with quiet hours and without', async () => {
    let seen = 0;
    const runs = fc.record({
      outageMs: fc.integer({ min: 5, max: 300 }).map((minutes) => minutes * MINUTE_MS),
      lifetimeMs: fc.constantFrom(8 * HOUR_MS, DAY_MS),
      days: fc.integer({ min: 4, max: 8 }),
      isQuiet: fc.boolean(),
      seed: fc.integer({ min: 0, max: 1_000 }),
    });
    await fc.assert(
      fc.asyncProperty(runs, async ({ outageMs, lifetimeMs, days, isQuiet, seed }) => {
        const { settings, behaviour, ...setup } = nightly(outageMs, { durationMs: days * DAY_MS, seed });
        const run = {
          ...{ ...setup, behaviour: { ...behaviour, lifetimeMs } },
          settings: { ...settings, quietHours: isQuiet ? quietHours : undefined },
        };
        for (const one of (await adviceFor(run)).filter((tried) => bridges(tried) && tried.isSure)) {
          expect(await lostInOtherRuns(run, one)).toEqual([0, 0, 0]);
          seen += 1;
        }
      }),
      { numRuns: 6, seed: 3 },
    );
    expect(seen).toBeGreaterThan(2);
  });

  it('needs calls enough, too, where the pauses of the outage happen to be shorter', async () => {
    const hourly = (calls: number): SimulationSetup => ({
      ...nightly(5 * MINUTE_MS, { durationMs: DAY_MS, seed: 89 }),
      settings: someSettings({ budget: [{ calls, perMs: HOUR_MS }] }),
    });
    const short = { ...hourly(20), behaviour: { ...hourly(20).behaviour, lifetimeMs: 10 * MINUTE_MS } };
    const told = await adviceFor(short);
    expect(told.filter(({ isSure }) => isSure)).not.toContainEqual(
      expect.objectContaining({ changes: [{ of: 'lifetime', lifetimeMs: 40 * MINUTE_MS }] }),
    );
    const windows = [{ calls: 20, perMs: HOUR_MS, used: 17, needed: 1 }];
    const spares = (calls: number): boolean =>
      hasCallsToSpare(
        short,
        windows.map((window) => ({ ...window, calls })),
      );
    expect([25, 26].map(spares)).toEqual([false, true]);
    expect(hasCallsToSpare(nightly(0), windows)).toBe(true);
  });

  it('is longer than the outage by the longest pause that may end it', () => {
    const settings = (minutes: number): SimulationSetup['settings'] =>
      someSettings({ renewBefore: { kind: 'duration', durationMs: minutes * MINUTE_MS } });
    const { behaviour } = nightly(30 * MINUTE_MS);
    const holds = (minutes: number, limit: 'end' | 'margin', budget: readonly WindowFigures[] = []): boolean =>
      bridgesWhereverItBegins({ behaviour, settings: settings(minutes), budget }, limit);
    expect([30, 30.9, 31].map((minutes) => holds(minutes, 'end'))).toEqual([false, false, true]);
    expect([31, 31.4, 31.5].map((minutes) => holds(minutes, 'margin'))).toEqual([false, false, true]);
    // A spent window may hold up the call after the outage for its full length.
    const spent = (used: number): readonly WindowFigures[] => [{ calls: 8, perMs: 10 * MINUTE_MS, used, needed: 1 }];
    expect([39, 40].map((minutes) => holds(minutes, 'end', spent(8)))).toEqual([false, true]);
    // So may one that another run's luck spends: by chance, more calls fail in an outage of the same length.
    const of = (calls: number): readonly WindowFigures[] => spent(7).map((window) => ({ ...window, calls }));
    expect([8, 12, 13].map((calls) => holds(39, 'end', of(calls)))).toEqual([false, false, true]);
    // With a single call in it, the calls of the outage are known: here the third comes after it, and a minute is for
    // looking.
    const single = [{ calls: 1, perMs: 15 * MINUTE_MS, used: 1, needed: 1 }];
    expect([30, 31].map((minutes) => holds(minutes, 'end', single))).toEqual([false, true]);
    const daily = someSettings({ renewEveryMs: 12 * HOUR_MS });
    const long = { ...behaviour, outageMs: 11 * HOUR_MS };
    expect(bridgesWhereverItBegins({ behaviour: long, settings: daily, budget: [] }, 'end')).toBe(true);
  });
});
