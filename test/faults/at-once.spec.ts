import { Cluster, type ClusterOptions, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Everything from here on happens without waiting for a tick. */
async function untouched(options: ClusterOptions = {}): Promise<Cluster> {
  const cluster = new Cluster({ tickMs: 24 * HOUR, merchants: ['shop', 'tickets'], ...options });
  await cluster.clock.advance(MINUTE);
  for (const store of cluster.stores) store.asked.length = 0;
  return cluster;
}

const noChange = { added: [], removed: [], changed: [] };

/** Lets a promise of the replica settle in virtual time. */
async function told(cluster: Cluster, telling: Promise<void>): Promise<void> {
  await cluster.clock.advance(0);
  await telling;
}

/** How many reads of a merchant the first replica has asked for. */
function readsOf(cluster: Cluster, merchant: string): number {
  const reads = cluster.stores[0]?.asked.filter(({ operation }) => operation === 'read') ?? [];
  return reads.filter((question) => JSON.stringify(question.arguments).includes(merchant)).length;
}

describe('a store that is back', () => {
  it('is asked at once for what waits to be asked again, and not once more when that time has come', async () => {
    const cluster = await untouched();
    const [store] = cluster.stores;
    if (store !== undefined) store.down = true;
    store?.announce({ kind: 'changed', merchant: 'shop', generation: Number.MAX_SAFE_INTEGER });
    await cluster.clock.advance(100);
    if (store !== undefined) store.down = false;
    await told(cluster, cluster.first.replica.resync());
    const before = readsOf(cluster, 'shop');
    await cluster.clock.advance(2 * SECOND);
    expect(readsOf(cluster, 'shop')).toBe(before);
  });

  it('is claimed from only when the others have had their time, though a reader is the first that it answers', async () => {
    const cluster = await untouched({ graceMs: 1_500 });
    const [store] = cluster.stores;
    if (store !== undefined) store.down = true;
    await cluster.clock.advance(HOUR);
    if (store !== undefined) store.down = false;
    const wish = { merchant: 'shop', minRemainingMs: 0, waitsThroughFailure: true, signal: neverAborted };
    const read = async (): Promise<number> => {
      const answer = Promise.allSettled([cluster.first.replica.wishes.read({ ...wish, waitMs: SECOND })]);
      await cluster.clock.advance(1_400);
      await answer;
      return store?.asksFor('claim') ?? 0;
    };
    expect([await read(), (await read()) > 0]).toEqual([0, true]);
  });
});

describe('a merchant', () => {
  it('that is new has its session without waiting for a tick', async () => {
    const cluster = await untouched();
    cluster.merchants = ['shop', 'tickets', 'kiosk'];
    void cluster.first.replica.merchantsChanged({ ...noChange, added: ['kiosk'] });
    await cluster.clock.advance(500);
    expect(cluster.session(0, 'kiosk').generation).toBeGreaterThan(0);
    expect(cluster.gateway.calls).toHaveLength(3);
  });

  it('that was changed and is well is read, and costs no call', async () => {
    const cluster = await untouched();
    await told(cluster, cluster.first.replica.merchantsChanged({ ...noChange, changed: ['shop'] }));
    expect(readsOf(cluster, 'shop')).toBe(1);
    expect(cluster.gateway.calls).toHaveLength(2);
  });
});

describe('a replica that has stopped', () => {
  it('asks nothing any more, and has no timer left', async () => {
    const cluster = await untouched();
    await cluster.first.stop();
    await cluster.clock.advance(HOUR);
    const late = cluster.stores[0]?.asked.filter(({ operation }) => operation !== 'publish');
    cluster.stores[0]?.announce({ kind: 'gap' });
    await cluster.clock.advance(HOUR);
    expect([late, cluster.clock.pendingTasks]).toEqual([[], 0]);
  });
});
