import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import type { Change } from './change.js';
import type { SimulationSetup } from './simulation.js';
import { bridges, played, Trials } from './trials.js';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const MERCHANTS = 40;
const LOOKED_AT = 5;

const budgetOf = (calls: number): Extract<Change, { readonly of: 'budget' }>['windows'] => [
  { calls: 20, perMs: 10 * MINUTE_MS },
  { calls, perMs: DAY_MS },
];

/** An outage nearly as long as a lead time of 30%: whether the lead bridges it is luck. */
const alike = Array.from({ length: MERCHANTS }, (_, index): SimulationSetup => ({
  ...{ merchant: `m${index + 1}`, startsAt: instantFromEpochMs(0), replicas: 3, durationMs: DAY_MS, seed: 1 },
  settings: someSettings({ budget: budgetOf(150) }),
  behaviour: { lifetimeMs: 15 * MINUTE_MS, latencyMs: 300, failureShare: 0, outageMs: 4 * MINUTE_MS },
}));

const withLead = (share: number, calls: number): readonly Change[] => [
  { of: 'lead', share },
  { of: 'budget', windows: budgetOf(calls) },
];

describe('a change that is proved for merchants alike', () => {
  let trials: Trials;
  beforeAll(async () => {
    const before = alike.slice(0, LOOKED_AT).map(async (setup) => ({ setup, figures: await played(setup) }));
    trials = new Trials(await Promise.all(before), alike.slice(LOOKED_AT));
  });

  it('bridges the gap only where it does so for every one of them', async () => {
    const proved = await trials.prove(withLead(0.4, 208));
    expect(proved).toMatchObject({ effect: 'bridges', runs: MERCHANTS, merchants: MERCHANTS });
  });

  it('ends with the first one that it does not bridge, counts those so far, and tells what that one lost', async () => {
    const changes = withLead(0.3, 174);
    expect(bridges(await trials.look(changes))).toBe(true);
    const proved = await trials.prove(changes);
    expect(proved.effect).toBe('shortens');
    expect(proved.lostMs).toBeGreaterThan(0);
    expect(proved.merchants).toBeGreaterThan(LOOKED_AT);
    expect(proved.merchants).toBeLessThan(MERCHANTS);
    expect(proved.runs).toBe(proved.merchants);
  });
});
