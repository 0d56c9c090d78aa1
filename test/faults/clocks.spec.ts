import { Cluster, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const LIFETIME = 15 * MINUTE;

const read = { merchant: 'shop', minRemainingMs: 0, waitMs: 1_000, waitsThroughFailure: false, signal: neverAborted };

describe('a store whose clock is set back an hour', () => {
  it('does not keep anybody from renewing in time, without a reader', async () => {
    const cluster = new Cluster({ replicas: 3 });
    await cluster.clock.advance(MINUTE);
    cluster.storeClock.aheadMs = -HOUR;
    for (let minute = 0; minute < 30; minute += 1) {
      await cluster.clock.advance(MINUTE);
      expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh', 'fresh']);
    }
    expect(cluster.deadTokens()).toEqual([]);
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(6);
  });

  it('does not lock a merchant whose claimant has died', async () => {
    const cluster = new Cluster({ latencyMs: 300 });
    await cluster.clock.advance(100);
    const [store] = cluster.stores;
    if (store !== undefined) store.down = true;
    cluster.storeClock.aheadMs = -HOUR;
    cluster.addReplica();
    const reading = Promise.allSettled([
      cluster.at(1).replica.reader.read({ ...read, waitMs: 20_000, waitsThroughFailure: true }),
    ]);
    await cluster.clock.advance(30 * SECOND);
    await reading;
    expect(cluster.served()[1]).toBeDefined();
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('makes no retry longer than it was meant', async () => {
    const cluster = new Cluster({ latencyMs: 0 });
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'busy' });
    await cluster.clock.advance(2 * SECOND);
    cluster.storeClock.aheadMs = -HOUR;
    const refused = cluster.first.replica.reader.read({ ...read, waitMs: 0 });
    await expect(refused).rejects.toMatchObject({ code: 'session_unavailable' });
    const error = await refused.catch((caught: unknown) => caught);
    expect((error as { retryAfterMs: number }).retryAfterMs).toBeLessThanOrEqual(60 * SECOND);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(65 * SECOND);
    expect(cluster.served()[0]).toBeDefined();
  });
});

describe('a store whose clock is set forward an hour', () => {
  it('costs no call, and no session its last minute', async () => {
    const cluster = new Cluster({ replicas: 3 });
    await cluster.clock.advance(MINUTE);
    cluster.storeClock.aheadMs = HOUR;
    await cluster.clock.advance(5 * MINUTE);
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh', 'fresh']);
    await cluster.clock.advance(7 * MINUTE);
    expect(cluster.gateway.calls).toHaveLength(2);
  });
});

describe.each([
  ['ahead', HOUR],
  ['behind', -HOUR],
])('a replica whose wall clock is an hour %s', (_name, aheadMs) => {
  it('harms nobody: as many calls as without it, and the others say when sessions end by the true time', async () => {
    const cluster = new Cluster({ replicas: 3, lifetimeMs: LIFETIME });
    cluster.gateway.datesAnswers = true;
    cluster.clockOf(0).aheadMs = aheadMs;
    await cluster.clock.advance(SECOND);
    for (let minute = 0; minute < 40; minute += 1) {
      await cluster.clock.advance(MINUTE);
      expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh', 'fresh']);
      for (const replica of [1, 2]) {
        const { expiresAt } = cluster.session(replica);
        expect(expiresAt - cluster.now()).toBeLessThanOrEqual(LIFETIME);
        expect(expiresAt - cluster.now()).toBeGreaterThan(0);
      }
    }
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(5);
    expect(cluster.deadTokens()).toEqual([]);
  });

  it('because it was set while the replica ran, costs no call', async () => {
    const cluster = new Cluster({ replicas: 2 });
    await cluster.clock.advance(2 * MINUTE);
    cluster.clockOf(0).aheadMs = aheadMs;
    const reading = cluster.first.replica.reader.read({ ...read, waitMs: 5_000 });
    await cluster.clock.advance(5 * SECOND);
    expect((await reading).verdict.result).toBe('fresh');
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(cluster.session(0).expiresAt - cluster.session(1).expiresAt).toBe(aheadMs);
  });
});

describe('the end of a session', () => {
  it('is never later than the gateway’s own, by whatever part of a second its Date is cut off', async () => {
    for (const offsetMs of [0, 1, 400, 961, 999]) {
      const cluster = new Cluster({ latencyMs: 0, settings: { onStoreOutage: 'fail' } });
      cluster.gateway.datesAnswers = true;
      await cluster.clock.advance(offsetMs);
      const { createdAt, expiresAt } = cluster.session();
      expect(expiresAt - createdAt).toBeLessThanOrEqual(LIFETIME);
    }
  });

  it('comes no later because a session was offered late: it ages from the gateway’s answer', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 200 });
    await cluster.clock.advance(711 * SECOND - SECOND);
    const creator = (): number => cluster.replicas.findIndex(({ replica }) => replica.isRenewing('shop'));
    while (creator() < 0) await cluster.clock.advance(20);
    const maker = creator();
    const store = cluster.stores[maker];
    if (store !== undefined) store.down = true;
    await cluster.clock.advance(60 * SECOND);
    const before = cluster.session(maker);
    if (store !== undefined) store.down = false;
    await cluster.clock.advance(3 * SECOND);
    const other = cluster.session(1 - maker);
    if (other.generation === before.generation) {
      const leftMs = cluster.at(1 - maker).replica.held.facts('shop').leftMs;
      expect(leftMs).toBeLessThanOrEqual(before.expiresAt - cluster.now());
    }
    expect(cluster.deadTokens()).toEqual([]);
  });
});

describe.each([-HOUR, -90 * SECOND, 90 * SECOND, HOUR])('a replica whose wall clock steps by %d ms', (byMs) => {
  it.each(['answers', 'silent'] as const)('refuses nothing and serves nothing expired: store %s', async (state) => {
    const cluster = new Cluster({ lifetimeMs: LIFETIME });
    cluster.gateway.datesAnswers = true;
    await cluster.clock.advance(MINUTE);
    const store = cluster.stores[0]!;
    store.state = state;
    cluster.clockOf(0).aheadMs = byMs;
    for (let waitedMs = 0; waitedMs < 40 * MINUTE; waitedMs += 10 * SECOND) {
      if (waitedMs === 10 * MINUTE) store.state = 'answers';
      const { session, verdict } = await cluster.first.replica.reader.read({ ...read, waitMs: 0 });
      const { atMs } = cluster.gateway.calls[Number(session.authToken.slice(-12)) - 1]!;
      expect([waitedMs, verdict.result]).toEqual([waitedMs, 'fresh']);
      expect(cluster.clock.monotonicMs() - atMs).toBeLessThan(LIFETIME);
      await cluster.clock.advance(10 * SECOND);
    }
    expect(cluster.gateway.calls).toHaveLength(4);
  });
});
