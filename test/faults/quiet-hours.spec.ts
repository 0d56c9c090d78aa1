import { DailyWindow, msBetween, plusMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { Cluster } from './cluster.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const quietHours = { from: '03:00', to: '05:00', timeZone: 'Europe/Kyiv' };
const daily = new DailyWindow(quietHours);

const aCluster = (settings: object): Cluster =>
  new Cluster({ replicas: 3, tickMs: 10 * MINUTE, lifetimeMs: DAY, settings });

describe('renewals in quiet hours', () => {
  it('come at the one moment that all replicas, a later one and the store know', async () => {
    const cluster = aCluster({ quietHours });
    await cluster.clock.advance(1_000);
    cluster.addReplica();
    await cluster.clock.advance(1_000);
    const { renewAt } = cluster.session(0);
    expect(daily.contains(renewAt)).toBe(true);
    expect(cluster.replicas.map((_, index) => cluster.session(index).renewAt)).toEqual(new Array(4).fill(renewAt));
    const { states } = await cluster.store.read([{ merchant: 'shop', known: 0 }]);
    const dueAt = plusMs(cluster.now(), states[0]?.dueInMs ?? 0);
    expect(Math.abs(msBetween(renewAt, dueAt))).toBeLessThan(1_000);
  });

  it('are the only ones of a fortnight of sessions that live for a day', async () => {
    const cluster = aCluster({ quietHours });
    const startedAt = cluster.now();
    await cluster.clock.advance(14 * DAY);
    const calls = cluster.gateway.calls
      .slice(1)
      .map(({ atMs }) => plusMs(startedAt, atMs - (cluster.gateway.calls[0]?.atMs ?? 0)));
    expect(calls.every((moment) => daily.contains(moment))).toBe(true);
    expect(calls.length).toBeGreaterThanOrEqual(14);
    expect(calls.length).toBeLessThanOrEqual(16);
  });

  it('count from the next session on when they are set or taken away while replicas run', async () => {
    const cluster = aCluster({});
    await cluster.clock.advance(1_000);
    const before = cluster.session(0);
    cluster.settings = someSettings({ quietHours });
    await cluster.clock.advance(HOUR);
    expect(cluster.session(0).renewAt).toBe(before.renewAt);
    await cluster.clock.advance(20 * HOUR);
    expect(cluster.session(0).generation).toBeGreaterThan(before.generation);
    expect(daily.contains(cluster.session(0).renewAt)).toBe(true);
  });

  it('leave renewals to chance within the lead where there are none', async () => {
    const cluster = aCluster({ renewEveryMs: 8 * HOUR });
    await cluster.clock.advance(1_000);
    const { createdAt, renewAt } = cluster.session(0);
    // Half of the jitter, which is a tenth of a fifth of a day.
    expect(Math.floor(msBetween(createdAt, renewAt))).toBe(8 * HOUR - 0.5 * 0.1 * 0.2 * DAY);
  });
});
