import { Cluster, HOUR, MINUTE, SECOND } from './cluster.js';
import type { FaultyStore } from './faulty-store.js';

const refused = { kind: 'refused', detail: 'no such merchant' } as const;
const changed = { added: [], removed: [], changed: ['shop'] };

/** Every replica is told of other merchants. */
async function reconfigure(cluster: Cluster, merchants: readonly string[], ms = SECOND): Promise<void> {
  const before = cluster.merchants;
  const added = merchants.filter((merchant) => !before.includes(merchant));
  const removed = before.filter((merchant) => !merchants.includes(merchant));
  cluster.merchants = merchants;
  const told = cluster.replicas.map(({ replica }) => replica.merchantsChanged({ added, removed, changed: [] }));
  await cluster.clock.advance(ms);
  await Promise.all(told);
}

describe('a merchant that is new in the configuration', () => {
  it('has its session without waiting for a tick', async () => {
    const cluster = await Cluster.running({ tickMs: 24 * HOUR });
    await reconfigure(cluster, ['shop', 'kiosk'], 500);
    expect(cluster.session(0, 'kiosk').generation).toBeGreaterThan(0);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('in an outage of the store is enrolled once that is over', async () => {
    const cluster = await Cluster.running();
    cluster.storeIs = 'silent';
    await reconfigure(cluster, ['shop', 'kiosk'], 5 * SECOND);
    expect(cluster.generations('kiosk')).toEqual([undefined]);
    cluster.storeIs = 'answers';
    await cluster.clock.advance(5 * SECOND);
    expect(cluster.generations('kiosk')).toEqual([expect.any(Number)]);
    expect(cluster.gateway.calls).toHaveLength(2);
  });
});

describe('a merchant that was removed', () => {
  it('is asked about no more, has no session for who wishes, and comes back with the one that it had, without a call', async () => {
    const cluster = await Cluster.running({ replicas: 2, merchants: ['shop', 'tickets'] });
    const before = cluster.generations('tickets');
    await reconfigure(cluster, ['shop']);
    const reads = cluster.storeOf(0).readsOf('tickets');
    const wanted = cluster.first.replica.wish('tickets', { trigger: 'demand' });
    expect(await wanted).toEqual({ kind: 'stopping', retryInMs: 100 });
    const wish = { merchant: 'tickets', waitMs: SECOND };
    expect(await cluster.read(wish, MINUTE)).toMatchObject({ code: 'session_unavailable', reason: 'no_session' });
    expect(cluster.storeOf(0).readsOf('tickets')).toBe(reads);
    await reconfigure(cluster, ['shop', 'tickets']);
    expect(cluster.generations('tickets')).toEqual(before);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('leaves nothing behind of its failures and back-offs', async () => {
    const cluster = new Cluster({ merchants: ['shop', 'tickets'] });
    cluster.gateway.answerAlways(refused);
    await cluster.clock.advance(MINUTE);
    const { replica } = cluster.first;
    expect(replica.retryInMs('tickets')).toBeGreaterThan(0);
    await reconfigure(cluster, ['shop']);
    expect([replica.retryInMs('tickets'), replica.failureOf('tickets')]).toEqual([undefined, undefined]);
    cluster.storeOf(0).asked.length = 0;
    await cluster.clock.advance(HOUR);
    expect(JSON.stringify(cluster.storeOf(0).asked)).not.toContain('tickets');
  });

  it.each([
    ['while it was being read', (store: FaultyStore) => store.holdNextAnswerOf('read')],
    [
      'before it could be read',
      (store: FaultyStore) => {
        store.state = 'silent';
        return () => void (store.state = 'answers');
      },
    ],
  ])('%s is forgotten all the same', async (_when, holdUp) => {
    const cluster = await Cluster.running({ merchants: ['shop', 'tickets'] });
    const store = cluster.storeOf(0);
    const goOn = holdUp(store);
    store.announce({ kind: 'gap' });
    await cluster.clock.advance(SECOND);
    cluster.merchants = ['shop'];
    void cluster.first.replica.merchantsChanged({ added: [], removed: ['tickets'], changed: [] });
    goOn();
    await cluster.clock.advance(2 * SECOND);
    expect(cluster.first.replica.held.find('tickets')).toBeUndefined();
  });
});

describe('a merchant whose configuration was changed', () => {
  it('is tried at once after a failure, though it has a session that is fresh', async () => {
    const cluster = await Cluster.running();
    cluster.gateway.answerNext(refused);
    const { generation } = cluster.session();
    await cluster.report({}, 2 * SECOND);
    expect(cluster.first.replica.retryInMs('shop')).toBeGreaterThan(0);
    const told = cluster.first.replica.merchantsChanged(changed);
    await cluster.clock.advance(SECOND);
    await told;
    expect(cluster.session().generation).toBeGreaterThan(generation);
    expect(cluster.gateway.calls).toHaveLength(3);
  });

  it('costs no call where it lets a replica open the session that it could not open before', async () => {
    const cluster = await Cluster.running();
    cluster.addReplica();
    cluster.storeOf(1).lacksKey = true;
    await cluster.clock.advance(5 * SECOND);
    expect(cluster.served()[1]).toBeUndefined();
    cluster.storeOf(1).lacksKey = false;
    const told = cluster.at(1).replica.merchantsChanged(changed);
    await cluster.clock.advance(SECOND);
    await told;
    expect(cluster.session(1)).toEqual(cluster.session(0));
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it.each([
    ['it opens', (cluster: Cluster) => cluster.at(1).replica.merchantsChanged(changed)],
    ['a newer one opens', (cluster: Cluster) => cluster.renewedBy(0)],
  ])(
    'is told to have a session that does not open, which has ended the one that is served, until %s',
    async (_what, mend) => {
      const cluster = await Cluster.running({ replicas: 2, latencyMs: 10, lifetimeMs: HOUR });
      cluster.storeOf(1).lacksKey = true;
      await cluster.renewedBy(0);
      const { generation } = cluster.session(0);
      expect(cluster.session(1).generation).toBeLessThan(generation);
      expect(cluster.conditions).toEqual(['fresh', 'dead']);
      expect(cluster.causes).toEqual([undefined, { code: 'unopened', generation, effect: 'payments_fail' }]);
      cluster.storeOf(1).lacksKey = false;
      await mend(cluster);
      await cluster.clock.advance(5 * SECOND);
      expect(cluster.conditions).toEqual(['fresh', 'fresh']);
      expect(cluster.causes).toEqual([undefined, undefined]);
    },
  );
});

describe('a replica that is stopped', () => {
  it('finishes the renewal in flight within the grace period', async () => {
    const cluster = new Cluster({ latencyMs: 2_000 });
    await cluster.clock.advance(500);
    await Promise.all([cluster.first.stop(5 * SECOND), cluster.clock.advance(2 * SECOND)]);
    expect(cluster.first.events.of('renewal_finished')).toEqual([expect.objectContaining({ outcome: 'success' })]);
  });

  it('ends with the grace period although the store does not take what it has created', async () => {
    const cluster = new Cluster({ settings: { gatewayTimeoutMs: 60_000 }, latencyMs: 200 });
    await cluster.clock.advance(100);
    cluster.storeIs = 'silent';
    await cluster.clock.advance(200);
    let isStopped = false;
    const stopped = cluster.first.stop(SECOND).then(() => (isStopped = true));
    await cluster.clock.advance(900);
    expect(isStopped).toBe(false);
    await cluster.clock.advance(200);
    expect(await stopped).toBe(true);
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('makes no call that the store could not take', async () => {
    const cluster = new Cluster({ replicas: 3 });
    await cluster.clock.advance(890 * SECOND);
    cluster.storeIs = 'silent';
    await cluster.clock.advance(15 * MINUTE - 1);
    const made = cluster.gateway.calls.length;
    const stopped = Promise.all(cluster.replicas.map(({ stop }) => stop(10 * SECOND)));
    await cluster.clock.advance(15 * SECOND);
    await stopped;
    expect([cluster.gateway.calls.length, cluster.clock.pendingTasks]).toEqual([made, 0]);
  });

  it('takes no new wish, asks nothing any more, and has no timer left', async () => {
    const cluster = await Cluster.running();
    await cluster.first.stop();
    const timers = cluster.clock.pendingTasks;
    cluster.storeOf(0).asked.length = 0;
    cluster.storeOf(0).announce({ kind: 'gap' });
    const generation = cluster.session().generation + 1;
    cluster.storeOf(0).announce({ kind: 'handover', step: 'begins', merchant: 'shop', generation, holdForMs: SECOND });
    await cluster.clock.advance(2 * HOUR);
    expect([timers, cluster.storeOf(0).asked, cluster.clock.pendingTasks]).toEqual([0, [], 0]);
    expect(await cluster.read()).toMatchObject({ code: 'session_unavailable' });
    expect(cluster.gateway.calls).toHaveLength(1);
  });
});
