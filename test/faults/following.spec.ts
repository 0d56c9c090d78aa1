import { Cluster, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** For a session of fifteen minutes, with half of the jitter. */
const RENEW_AT = 711 * SECOND;

describe('a replica that missed the news of a session', () => {
  /** One replica asks for the lease at the very moment at which the other has it, and hears nothing for a while. */
  async function whileClaiming(cluster: Cluster): Promise<() => void> {
    await cluster.clock.advance(RENEW_AT - SECOND);
    while (!cluster.replicas.some(({ replica }) => replica.isRenewing('shop'))) await cluster.clock.advance(10);
    const follower = cluster.replicas.findIndex(({ replica }) => !replica.isRenewing('shop'));
    const release = cluster.stores[follower]?.holdNextAnswerOf('claim') ?? ((): void => undefined);
    const { generation } = cluster.session(follower);
    const report = { merchant: 'shop', generation, reason: 'b_used_token', waitMs: 20 * SECOND, signal: neverAborted };
    const { rejections } = cluster.at(follower).replica;
    reporting = Promise.allSettled([rejections.reject(report)]);
    await cluster.clock.advance(1);
    expect(cluster.at(follower).replica.isRenewing('shop')).toBe(true);
    return release;
  }
  let reporting: Promise<unknown> = Promise.resolve();

  it('reads it although it was renewing itself when the news came, and its own claim was refused', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 400 });
    const release = await whileClaiming(cluster);
    for (const store of cluster.stores) store.losesAnnouncements = true;
    await cluster.clock.advance(300);
    for (const store of cluster.stores) store.losesAnnouncements = false;
    await cluster.clock.advance(200);
    release();
    await cluster.clock.advance(10);
    expect(cluster.deadTokens()).toEqual([]);
    expect(cluster.gateway.calls).toHaveLength(2);
    await reporting;
  });

  it('reads it while the answer to its own claim is still on its way', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 400 });
    const release = await whileClaiming(cluster);
    await cluster.clock.advance(500);
    expect(cluster.deadTokens()).toEqual([]);
    release();
    await cluster.clock.advance(100);
    await reporting;
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('reads it as soon as its connection for announcements is back', async () => {
    const cluster = new Cluster({ replicas: 4 });
    await cluster.clock.advance(RENEW_AT - SECOND);
    for (const store of cluster.stores) store.losesAnnouncements = true;
    await cluster.clock.advance(1_200);
    for (const store of cluster.stores) {
      store.losesAnnouncements = false;
      store.announce({ kind: 'gap' });
    }
    await cluster.clock.advance(1);
    expect(cluster.deadTokens()).toEqual([]);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('goes on asking when the read that the news caused is not answered', async () => {
    const cluster = new Cluster({ replicas: 2 });
    await cluster.clock.advance(RENEW_AT - SECOND);
    const follower = cluster.stores[1];
    if (follower !== undefined) follower.losesNextAnswerOf = 'read';
    await cluster.clock.advance(4 * SECOND);
    expect(follower?.losesNextAnswerOf).toBeUndefined();
    expect(cluster.deadTokens()).toEqual([]);
  });
});

describe('a claimant', () => {
  it('serves its session from the gateway’s answer on, although the store has gone silent before it was published', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 200 });
    await cluster.clock.advance(MINUTE);
    const { generation } = cluster.session();
    while (!cluster.replicas.some(({ replica }) => replica.isRenewing('shop'))) await cluster.clock.advance(50);
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(250);
    const served = cluster.served().map((one) => one?.session.authToken);
    expect(served).toContain(cluster.gateway.liveToken('shop'));
    await cluster.clock.advance(15 * SECOND);
    for (const store of cluster.stores) store.down = false;
    await cluster.clock.advance(1_500);
    expect(cluster.deadTokens()).toEqual([]);
    expect(cluster.session().generation).toBeGreaterThan(generation);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('that was frozen beyond its lease after its call offers the session, where nobody else has claimed since', async () => {
    const cluster = new Cluster({ latencyMs: 300 });
    await cluster.clock.advance(100);
    cluster.clock.freeze(60 * SECOND);
    await cluster.clock.advance(3 * SECOND);
    cluster.addReplica();
    await cluster.clock.advance(3 * SECOND);
    expect(cluster.deadTokens()).toEqual([]);
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(2);
  });

  it('makes no second call under a fence that it has called under, though its release was lost', async () => {
    const cluster = new Cluster({ latencyMs: 10 });
    await cluster.clock.advance(MINUTE);
    const [store] = cluster.stores;
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'busy' });
    await cluster.clock.advance(RENEW_AT - MINUTE - SECOND);
    if (store !== undefined) store.losesNextAnswerOf = 'release';
    await cluster.clock.advance(3 * MINUTE);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(2 * MINUTE);
    const fences = cluster.first.events.of('renewal_finished').map(({ generation }) => generation);
    expect(new Set(fences).size).toBe(fences.length);
    expect(fences.length).toBeGreaterThan(2);
  });
});

describe('a store that was emptied', () => {
  it('is offered what replicas hold, and costs no call', async () => {
    const merchants = Array.from({ length: 20 }, (_, index) => `shop-${index}`);
    const cluster = new Cluster({ replicas: 3, merchants });
    await cluster.clock.advance(MINUTE);
    const before = merchants.map((merchant) => cluster.session(0, merchant).generation);
    cluster.emptyStore();
    await cluster.clock.advance(3 * SECOND);
    const newcomer = cluster.addReplica();
    await cluster.clock.advance(SECOND);
    expect(merchants.map((merchant) => newcomer.replica.held.generationOf(merchant))).toEqual(before);
    expect(cluster.gateway.calls).toHaveLength(merchants.length);
  });

  it('costs one call for each merchant, with a higher generation, when no replica holds its session any more', async () => {
    const merchants = Array.from({ length: 20 }, (_, index) => `shop-${index}`);
    const cluster = new Cluster({ replicas: 3, merchants });
    await cluster.clock.advance(MINUTE);
    const before = merchants.map((merchant) => cluster.session(0, merchant).generation);
    await Promise.all(cluster.replicas.map(({ stop }) => stop()));
    cluster.emptyStore();
    const newcomers = [cluster.addReplica(), cluster.addReplica(), cluster.addReplica()];
    await cluster.clock.advance(5 * SECOND);
    for (const { replica } of newcomers) {
      const after = merchants.map((merchant) => replica.held.generationOf(merchant));
      expect(after.filter((generation, index) => generation <= (before[index] ?? 0))).toEqual([]);
    }
    expect(cluster.gateway.calls).toHaveLength(2 * merchants.length);
  });

  it('goes on with generations that grow, at the moments at which they fall due', async () => {
    const cluster = new Cluster({ replicas: 2 });
    await cluster.clock.advance(MINUTE);
    const before = cluster.session().generation;
    cluster.emptyStore();
    await cluster.clock.advance(RENEW_AT - 2 * MINUTE);
    expect(cluster.gateway.calls).toHaveLength(1);
    await cluster.clock.advance(2 * MINUTE);
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(cluster.session().generation).toBeGreaterThan(before);
    expect(cluster.deadTokens()).toEqual([]);
  });
});
