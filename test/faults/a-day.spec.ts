import { seededRandom } from '../simulation/seeded-random.js';
import { Cluster, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The lead time of a session of eight hours is 20 % of it, and up to a tenth more through jitter. */
const RENEWED_AFTER = 6.4 * HOUR;
const EARLIEST_RENEWED_AFTER = 6.24 * HOUR;

/** The largest number of these moments within any period of this length. */
const mostWithin = (atMs: readonly number[], stretchMs: number): number =>
  Math.max(0, ...atMs.map((from) => atMs.filter((at) => at >= from && at < from + stretchMs).length));

describe('a day with a gateway that names no expiry', () => {
  it.each([
    ['without jitter', 0, RENEWED_AFTER],
    ['with all of the jitter', 1 - Number.EPSILON, EARLIEST_RENEWED_AFTER],
  ])('has three renewals after the first call, %s, and never an expired session', async (_name, jitter, interval) => {
    const cluster = new Cluster({ replicas: 3, tickMs: 30 * SECOND, random: () => jitter });
    cluster.gateway.namesExpiry = false;
    for (let minute = 0; minute < 24 * 60; minute += 1) {
      await cluster.clock.advance(MINUTE);
      expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh', 'fresh']);
      expect(cluster.deadTokens()).toEqual([]);
    }
    const callsAtMs = cluster.gateway.calls.map(({ atMs }) => atMs);
    expect(callsAtMs).toHaveLength(4);
    for (const [index, atMs] of callsAtMs.entries()) {
      expect(Math.abs(atMs - index * interval)).toBeLessThan(MINUTE);
    }
  });
});

describe('a day of faults', () => {
  it('stays within both windows of the budget, whatever fails and however many ask', async () => {
    const random = seededRandom(24);
    const cluster = new Cluster({ replicas: 3, lifetimeMs: 30 * SECOND, tickMs: 10 * SECOND, random });
    const rejections: Promise<unknown>[] = [];
    for (let minute = 0; minute < 24 * 60; minute += 1) {
      await cluster.clock.advance(MINUTE);
      if (random() < 0.3) cluster.gateway.answerNext({ kind: 'transient', detail: 'busy' });
      if (random() < 0.1) cluster.gateway.revoke('shop');
      const [served] = cluster.served();
      if (served === undefined || random() < 0.5) continue;
      const { generation } = served.session;
      const report = { merchant: 'shop', generation, waitMs: SECOND, signal: neverAborted };
      rejections.push(Promise.allSettled([cluster.first.replica.rejections.reject(report)]));
    }
    await cluster.clock.advance(MINUTE);
    await Promise.all(rejections);
    const callsAtMs = cluster.gateway.calls.map(({ atMs }) => atMs);
    expect(mostWithin(callsAtMs, 10 * MINUTE)).toBe(20);
    expect(mostWithin(callsAtMs, DAY)).toBe(60);
    expect(cluster.first.events.of('claim_refused').some(({ reason }) => reason === 'budget_exhausted')).toBe(true);
  });
});

describe('a gateway that fails for most of a day', () => {
  it.each(['transient', 'timeout', 'refused', 'revoked'] as const)(
    'with %s has calls left for its end, and a session within the hour after it',
    async (kind) => {
      const cluster = new Cluster({ replicas: 3, lifetimeMs: 8 * HOUR, tickMs: 30 * SECOND, random: seededRandom(7) });
      cluster.gateway.answerAlways({ kind, detail: 'down' });
      await cluster.clock.advance(20 * HOUR);
      expect(cluster.served()).toEqual([undefined, undefined, undefined]);
      expect(cluster.gateway.calls.length).toBeLessThan(60);
      cluster.gateway.answerAlways(undefined);
      await cluster.clock.advance(HOUR + MINUTE);
      expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh', 'fresh']);
    },
  );

  it('for an hour has a session within half an hour after it', async () => {
    const cluster = new Cluster({ replicas: 3, lifetimeMs: 8 * HOUR, tickMs: 30 * SECOND, random: seededRandom(7) });
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'down' });
    await cluster.clock.advance(HOUR);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(30 * MINUTE);
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh', 'fresh']);
  });
});
