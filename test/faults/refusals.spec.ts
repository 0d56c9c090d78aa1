import { generationAlone, isMadeAlone } from '#libs/session';
import { Cluster, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const authorize = { onStoreOutage: 'authorize' } as const;
const read = { merchant: 'shop', minRemainingMs: 0, waitMs: 1_000, waitsThroughFailure: false, signal: neverAborted };

function allStores(cluster: Cluster, state: 'answers' | 'silent' | 'refuses'): void {
  for (const store of cluster.stores) store.state = state;
}

describe('a store that refuses', () => {
  it('never lets a replica create a session alone, however long it refuses', async () => {
    const cluster = new Cluster({ replicas: 3, settings: authorize });
    await cluster.clock.advance(MINUTE);
    allStores(cluster, 'refuses');
    await cluster.clock.advance(20 * MINUTE);
    const reading = Promise.allSettled([cluster.first.replica.reader.read(read)]);
    await cluster.clock.advance(2 * SECOND);
    await reading;
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(cluster.first.events.of('store_failed').at(-1)?.error).toMatchObject({ code: 'store_refused' });
  });

  it('ends a silence: one that only begins again after it is a new one', async () => {
    const cluster = new Cluster({ settings: authorize });
    await cluster.clock.advance(700 * SECOND);
    allStores(cluster, 'silent');
    const before = cluster.gateway.calls.length;
    // Past the margin, and past the end of the session.
    for (let round = 0; round < 55; round += 1) {
      await cluster.clock.advance(3 * SECOND);
      allStores(cluster, 'refuses');
      await cluster.clock.advance(SECOND);
      allStores(cluster, 'silent');
    }
    expect(cluster.gateway.calls.length).toBe(before);
  });
});

describe('a silence of the store', () => {
  it('of four seconds, at the margin, costs no call without a lease', async () => {
    const cluster = new Cluster({ replicas: 3, settings: authorize });
    await cluster.clock.advance(700 * SECOND);
    allStores(cluster, 'silent');
    await cluster.clock.advance(168 * SECOND);
    allStores(cluster, 'answers');
    await cluster.clock.advance(SECOND);
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(cluster.served().every((served) => !isMadeAlone(served?.session.generation ?? 1))).toBe(true);
  });

  it('however long, lets no replica create a session alone before the margin, whatever is wished for', async () => {
    const cluster = new Cluster({ settings: authorize });
    await cluster.clock.advance(5 * MINUTE);
    allStores(cluster, 'silent');
    for (let second = 0; second < 60; second += 1) {
      const wish = { ...read, minRemainingMs: 11 * MINUTE };
      const settled = Promise.allSettled([cluster.first.replica.reader.read(wish)]);
      await cluster.clock.advance(SECOND);
      await settled;
    }
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('that was this process’s own does not count: frozen for a minute past the margin, it asks before it creates', async () => {
    const cluster = new Cluster({ settings: authorize });
    await cluster.clock.advance(700 * SECOND);
    allStores(cluster, 'silent');
    cluster.clock.freeze(175 * SECOND);
    await cluster.clock.advance(SECOND);
    expect(cluster.gateway.calls).toHaveLength(1);
    allStores(cluster, 'answers');
    await cluster.clock.advance(3 * SECOND);
    expect(isMadeAlone(cluster.session().generation)).toBe(false);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('lets replicas make sessions whose generations can neither meet each other nor those of a lease', async () => {
    const cluster = new Cluster({ replicas: 5, settings: authorize });
    await cluster.clock.advance(MINUTE);
    allStores(cluster, 'silent');
    await cluster.clock.advance(16 * MINUTE);
    const generations = cluster.served().map((served) => served?.session.generation ?? 0);
    expect(new Set(generations).size).toBe(5);
    expect(generations.every(isMadeAlone)).toBe(true);
    expect(new Set(generations.map((generation) => generation % 2_048)).size).toBe(5);
    expect(generationAlone(0, generations[0] ?? 0)).toBeGreaterThan(generations[0] ?? 0);
  });

  it('in which a session is revoked costs a handful of calls, not the budget of every replica', async () => {
    const cluster = new Cluster({ replicas: 2, settings: authorize, latencyMs: 50 });
    await cluster.clock.advance(MINUTE);
    allStores(cluster, 'silent');
    for (let second = 0; second < 240; second += 1) {
      const reports = cluster.replicas.map(async ({ replica }) => {
        const session = replica.reader.peek('shop')?.session;
        if (session === undefined || session.authToken === cluster.gateway.liveToken('shop')) return;
        const { generation } = session;
        await replica.rejections.reject({
          merchant: 'shop',
          generation,
          reason: 'b_used_token',
          waitMs: 900,
          signal: neverAborted,
        });
      });
      const settled = Promise.allSettled(reports);
      if (second === 10) cluster.gateway.revoke('shop');
      await cluster.clock.advance(SECOND);
      await settled;
    }
    expect(cluster.gateway.calls.length - 1).toBeLessThanOrEqual(12);
  });
});

describe('a shutdown', () => {
  it('makes no call that the store could not take', async () => {
    const cluster = new Cluster({ replicas: 3, settings: authorize });
    await cluster.clock.advance(890 * SECOND);
    const before = cluster.gateway.calls.length;
    allStores(cluster, 'silent');
    await cluster.clock.advance(15 * MINUTE - 1);
    const made = cluster.gateway.calls.length;
    const stopped = Promise.all(cluster.replicas.map(({ stop }) => stop(10 * SECOND)));
    await cluster.clock.advance(15 * SECOND);
    await stopped;
    expect(cluster.gateway.calls).toHaveLength(made);
    expect(made).toBeGreaterThanOrEqual(before);
    expect(cluster.clock.pendingTasks).toBe(0);
  });
});
