import { Cluster, HOUR, MINUTE, SECOND } from './cluster.js';

describe('a store that does not answer', () => {
  it('holds back what is due, and leaves what is held to be served to its end; then it heals within two seconds, with one call', async () => {
    const cluster = await Cluster.running({ replicas: 3 });
    const { replica, events } = cluster.first;
    const told = (): unknown => [replica.conditionOf('shop'), replica.causeFor('shop')?.code];
    const said = (): readonly string[] =>
      events.all.flatMap(({ event }) => (event.startsWith('service_') ? [event] : []));
    cluster.storeIs = 'silent';
    await cluster.clock.advance(MINUTE);
    expect(told()).toEqual(['fresh', undefined]);
    expect(await cluster.renew()).toMatchObject({ code: 'session_unavailable', reason: 'store_silent' });
    await cluster.clock.advance(replica.held.untilRenewalMs('shop') + 5 * SECOND);
    expect(told()).toEqual(['failing', 'store_silent']);
    await cluster.clock.advance(replica.held.facts('shop').leftMs - 2 * SECOND);
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['stale', 'stale', 'stale']);
    expect(said()).toEqual([]);
    await cluster.clock.advance(4 * SECOND);
    expect(cluster.served()).toEqual([undefined, undefined, undefined]);
    expect(said()).toEqual(['service_ended']);
    expect(events.of('service_ended')[0]?.cause?.code).toBe('store_silent');
    expect(cluster.gateway.calls).toHaveLength(1);
    cluster.storeIs = 'answers';
    await cluster.clock.advance(2 * SECOND);
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(cluster.generations()).toEqual(new Array(3).fill(cluster.session().generation));
    expect([told(), said()]).toEqual([
      ['fresh', undefined],
      ['service_ended', 'service_resumed'],
    ]);
    for (const one of cluster.replicas) expect(one.events.of('store_recovered')).toHaveLength(1);
  });

  it('keeps no reader waiting at a replica that has never reached it', async () => {
    const cluster = new Cluster({ graceMs: 1_500 });
    cluster.storeIs = 'silent';
    await cluster.clock.advance(3 * SECOND);
    expect(await cluster.read({ waitMs: 30_000 })).toMatchObject({ code: 'session_unavailable' });
  });

  it('is told of a session as old as it is, however long the process stood still before it asked again', async () => {
    const cluster = new Cluster({ latencyMs: 200 });
    await cluster.clock.advance(100);
    cluster.storeIs = 'silent';
    await cluster.clock.advance(150);
    cluster.storeIs = 'answers';
    cluster.clock.freeze(3_000);
    await cluster.clock.advance(100);
    const { states } = await cluster.store.read([{ merchant: 'shop', known: 0 }]);
    expect(states[0]?.stored).toMatchObject({ kind: 'session', ageMs: expect.closeTo(3_150, -2) as number });
  });
});

describe('a store that is back', () => {
  const merchants = ['shop', 'stall'];
  /** A replica that starts knows what the store knows. */
  const isWhatTheNextFinds = async (cluster: Cluster): Promise<void> => {
    cluster.addReplica();
    await cluster.clock.advance(100);
    for (const id of merchants) expect(cluster.session(1, id)).toEqual(cluster.session(0, id));
    expect(cluster.gateway.calls).toHaveLength(2);
  };

  it('is told of what it did not take, for every merchant', async () => {
    const cluster = new Cluster({ merchants, latencyMs: 300 });
    await cluster.clock.advance(200);
    cluster.storeIs = 'silent';
    await cluster.clock.advance(MINUTE);
    cluster.storeIs = 'answers';
    await cluster.clock.advance(3 * SECOND);
    await isWhatTheNextFinds(cluster);
  });

  it('empty is told of every merchant as soon as it is seen to lack one', async () => {
    // With this chance, it is the second that is looked at.
    const cluster = await Cluster.running({ merchants });
    cluster.emptyStore();
    await cluster.clock.advance(3 * SECOND);
    await isWhatTheNextFinds(cluster);
  });

  it('empty is told at once when the connection says that it was lost, and not at the next tick', async () => {
    const cluster = await Cluster.running({ merchants, tickMs: HOUR });
    cluster.emptyStore();
    cluster.storeOf(0).announce({ kind: 'gap' });
    await cluster.clock.advance(10);
    await isWhatTheNextFinds(cluster);
  });

  it('is asked at once for what waits to be asked again, and not once more when that time has come', async () => {
    const cluster = await Cluster.running({ tickMs: 24 * HOUR });
    const store = cluster.storeOf(0);
    store.state = 'silent';
    store.announce({ kind: 'changed', merchant: 'shop', generation: Number.MAX_SAFE_INTEGER });
    await cluster.clock.advance(100);
    store.state = 'answers';
    const resynced = cluster.first.replica.resync();
    await cluster.clock.advance(0);
    await resynced;
    const before = store.readsOf('shop');
    await cluster.clock.advance(2 * SECOND);
    expect(store.readsOf('shop')).toBe(before);
  });

  it('is claimed from only when the others have had their time, though a reader is the first that it answers', async () => {
    const cluster = await Cluster.running({ graceMs: 1_500 });
    cluster.storeIs = 'silent';
    await cluster.clock.advance(HOUR);
    cluster.storeIs = 'answers';
    const before = cluster.storeOf(0).asksFor('claim');
    const claimedAfter = async (): Promise<number> => {
      await cluster.read({ waitsThroughFailure: true, waitMs: SECOND }, 1_400);
      return cluster.storeOf(0).asksFor('claim') - before;
    };
    expect([await claimedAfter(), (await claimedAfter()) > 0]).toEqual([0, true]);
  });
});

describe('an announcement that somebody forged', () => {
  it.each([2 ** 53 - 1, Number.NaN])('of generation %d causes a read and sets nothing', async (generation) => {
    const cluster = await Cluster.running({ replicas: 2 });
    const store = cluster.storeOf(0);
    store.announce({ kind: 'changed', merchant: 'nobody', generation });
    expect(cluster.first.replica.held.find('nobody')).toBeUndefined();
    const readsBefore = store.asksFor('read');
    for (let count = 0; count < 1_000; count += 1) store.announce({ kind: 'changed', merchant: 'shop', generation });
    await cluster.clock.advance(100);
    expect(store.asksFor('read') - readsBefore).toBeLessThan(10);
    expect(cluster.first.replica.held.of('shop').floor).toBe(cluster.session().generation);
    await cluster.clock.advance(20 * MINUTE);
    expect(cluster.session().generation).toBeLessThan(2e12);
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
    expect(cluster.gateway.calls).toHaveLength(2);
  });
});

describe('how old a session is', () => {
  it('is known to a replica that starts ten minutes later: it is served to its end, and not a moment longer', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(10 * MINUTE);
    const first = cluster.session();
    cluster.addReplica();
    await cluster.clock.advance(SECOND);
    expect(cluster.session(1)).toEqual(first);
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'busy' });
    await cluster.clock.advance(5 * MINUTE - 3 * SECOND);
    expect(cluster.session(1)).toEqual(first);
    await cluster.clock.advance(4 * SECOND);
    expect(cluster.served()).toEqual([undefined, undefined]);
  });

  it('is asked of the store for a reader to whom it looks over, before a session is made', async () => {
    const cluster = await Cluster.running({ tickMs: HOUR });
    const before = cluster.session();
    cluster.clockOf(0).aheadMs = HOUR;
    expect(await cluster.read()).toMatchObject({ session: { generation: before.generation } });
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it.each([
    ['what the store says on a machine that slept for ten minutes', 10 * MINUTE, 4],
    ['as before where the clock of the machine alone was set', 0, 14],
  ])('is %s', async (_what, storeAheadMs, minutesLeft) => {
    const cluster = await Cluster.running();
    cluster.clockOf(0).aheadMs = 10 * MINUTE;
    cluster.storeClock.aheadMs = storeAheadMs;
    await cluster.clock.advance(5 * SECOND);
    // Of fifteen minutes, one and some seconds have passed in either case.
    const { expiresInMs } = cluster.first.replica.held.leftOf(cluster.session());
    expect(Math.round(expiresInMs / MINUTE)).toBe(minutesLeft);
  });
});
