import { BrokerError } from '#libs/errors';
import { Cluster, type ClusterOptions, HOUR, MINUTE, neverAborted, SECOND } from './cluster.js';

const REFUSED = { kind: 'refused', detail: 'no such merchant', msgCode: 'b_merchant_not_found' } as const;

describe('a session that consumers report dead', () => {
  it('costs one create call when it is reported to every replica at once', async () => {
    const cluster = await Cluster.running({ replicas: 10, latencyMs: 300 });
    const generation = cluster.session().generation;
    const reports = Array.from({ length: 1_000 }, (_, index) => cluster.report({ generation }, SECOND, index % 10));
    const answers = await Promise.all(reports);
    expect(cluster.gateway.calls).toHaveLength(2);
    const newer = { kind: 'renewed', session: { generation: cluster.session().generation } };
    expect(answers).toMatchObject(answers.map(() => newer));
    expect(newer.session.generation).toBeGreaterThan(generation);
  });

  it('is told of with what the consumer said, and as the first of its generation', async () => {
    const cluster = await Cluster.running();
    const { generation } = cluster.session();
    await cluster.report({ generation, consumer: 'checkout' });
    const anonymous = { merchant: 'shop', generation, waitMs: SECOND, signal: neverAborted };
    await cluster.ask((wishes) => wishes.reject(anonymous));
    const told = { event: 'session_rejected', merchant: 'shop', generation };
    expect(cluster.first.events.of('session_rejected')).toEqual([
      { ...told, reason: 'b_used_token', consumer: 'checkout', result: 'renewed', isFirst: true },
      { ...told, result: 'already_newer', isFirst: false },
    ]);
  });

  it('is given to nobody who waits for what comes, on the replica that knows, until the newer one is there', async () => {
    const cluster = await Cluster.running({ latencyMs: 3_000 });
    const { generation } = cluster.session();
    const reported = cluster.report({ waitMs: 7_000 }, 6 * SECOND);
    await cluster.clock.advance(SECOND);
    const read = { waitMs: 10_000 };
    const [waiting, plain] = [true, false].map((waitsThroughFailure) =>
      cluster.read({ ...read, waitsThroughFailure }, 5 * SECOND),
    );
    await reported;
    expect(await plain).toMatchObject({ session: { generation } });
    expect(await waiting).toMatchObject({ session: { generation: cluster.session().generation } });
    expect(cluster.session().generation).toBeGreaterThan(generation);
  });

  it('is replaced by what another replica has made meanwhile, once the store has said so, and not before', async () => {
    const cluster = await Cluster.running({ replicas: 2 });
    const store = cluster.storeOf(1);
    store.losesAnnouncements = true;
    await cluster.report({}, 100);
    store.failures = { read: new BrokerError('store_unavailable') };
    expect(await cluster.report({}, 10, 1)).toMatchObject({ reason: 'store_silent', retryAfterMs: 1_000 });
    store.failures = {};
    const release = store.holdNextAnswerOf('read');
    const answer = await cluster.report({ waitMs: 7_000 }, SECOND, 1);
    release();
    expect(answer).toMatchObject({ kind: 'renewed', session: { generation: cluster.session().generation } });
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('is replaced by a call of its own when what it joined was made for a lesser wish, and came to nothing', async () => {
    const cluster = await Cluster.running();
    const { generation } = cluster.session();
    const goOn = cluster.storeOf(0).holdNextAnswerOf('claim');
    void cluster.first.replica.wish('shop', { trigger: 'schedule' });
    cluster.clock.schedule(500, goOn);
    expect(await cluster.report({ waitMs: MINUTE })).toMatchObject({ kind: 'renewed' });
    expect(cluster.session().generation).toBeGreaterThan(generation);
  });

  it('is answered in its time when the gateway is not', async () => {
    const cluster = await Cluster.running({ latencyMs: 4_000 });
    expect(await cluster.report({ waitMs: 500 })).toMatchObject({ reason: 'renewing' });
  });

  it('clears no back-off, however many ask', async () => {
    const cluster = await Cluster.running({ latencyMs: 10 });
    const { generation } = cluster.session();
    cluster.gateway.answerAlways(REFUSED);
    await cluster.report();
    const again = Array.from({ length: 100 }, () => cluster.report({ generation, waitMs: 7_000 }, 30 * SECOND));
    for (const answer of await Promise.all(again)) expect(answer).toMatchObject({ code: 'session_unavailable' });
    // The first refusals are repeated after 2, 5 and 15 seconds.
    expect(cluster.gateway.calls).toHaveLength(2 + 3);
    expect(cluster.session().generation).toBe(generation);
  });

  it('takes the merchant out for some seconds if the bank refuses the next one a few times', async () => {
    const refusals = 3;
    const cluster = await Cluster.running({ replicas: 3, latencyMs: 10 });
    const { generation } = cluster.session();
    cluster.gateway.revoke('shop');
    cluster.gateway.answerNext(...Array.from({ length: refusals }, () => REFUSED));
    await cluster.report({}, 30 * SECOND);
    expect(cluster.generations().filter((now = 0) => now <= generation)).toEqual([]);
    expect(cluster.gateway.calls).toHaveLength(2 + refusals);
  });

  it('is replaced at once by another replica if the one at it stops, although it has long to go', async () => {
    const cluster = await Cluster.running({ replicas: 2, latencyMs: 4_000 });
    const { generation } = cluster.session();
    const reported = cluster.report({}, 100);
    await cluster.clock.advance(100);
    await Promise.all([cluster.first.stop(500), cluster.clock.advance(8 * SECOND), reported]);
    expect(cluster.session(1).generation).toBeGreaterThan(generation);
    expect(cluster.gateway.calls).toHaveLength(3);
  });

  it('is replaced after the back-off of a call that failed, by any replica that is there', async () => {
    const cluster = await Cluster.running({ replicas: 2, latencyMs: 10 });
    const { generation } = cluster.session();
    cluster.gateway.answerNext({ kind: 'transient', detail: 'busy' });
    await cluster.report({}, 100);
    await cluster.first.stop();
    await cluster.clock.advance(4 * SECOND);
    expect(cluster.session(1).generation).toBeGreaterThan(generation);
    expect(cluster.gateway.calls).toHaveLength(3);
  });
});

describe('a generation that nobody here knows', () => {
  it('was never issued where the store has none: it gets the session there is, without a call, unless only the store could tell', async () => {
    const cluster = await Cluster.running();
    const { generation } = cluster.session();
    const held = (claimed: number): Promise<number | Error> =>
      cluster.ask((wishes) => wishes.generationHeld('shop', claimed));
    expect(await cluster.report({ generation: generation + 1 })).toMatchObject({
      kind: 'already_newer',
      session: { generation },
    });
    expect([await held(generation + 1), await held(generation)]).toEqual([0, generation]);
    cluster.storeIs = 'silent';
    expect(await held(generation + 1)).toBe(generation + 1);
    expect(await cluster.report({ generation: generation + 1 })).toMatchObject({ code: 'store_unavailable' });
    expect(cluster.gateway.calls).toHaveLength(1);
    // A replica that knows of none at all cannot tell.
    expect(await cluster.ask((wishes) => wishes.generationHeld('nobody', 7))).toBe(7);
  });

  it('and was issued is as dead as any other: it is not given back', async () => {
    // With this chance, it is the second merchant that is looked at meanwhile.
    const cluster = await Cluster.running({ replicas: 2, merchants: ['shop', 'stall'] });
    cluster.storeOf(1).losesAnnouncements = true;
    await cluster.report({}, 20 * SECOND);
    const { generation } = cluster.session();
    expect(cluster.session(1).generation).toBeLessThan(generation);
    const answer = await cluster.report({ generation }, SECOND, 1);
    // Of two that died early in a row, somebody else made the second.
    expect(answer).toMatchObject({ kind: 'cooled_down', because: 'foreign_authorizer' });
  });
});

describe('a dead session that cannot be replaced', () => {
  const effect = 'reported_dead';
  const settings = { budget: [{ calls: 2, perMs: HOUR }] };
  /** Replicas that hold one session, whose consumers all report to the first. */
  const reportedToOne = (options: ClusterOptions = {}): Promise<Cluster> =>
    Cluster.running({ replicas: 2, latencyMs: 10, lifetimeMs: 12 * HOUR, settings, ...options });

  it('is known to be dead on every replica until a newer one is held, and the one that was told says why', async () => {
    const cluster = await reportedToOne();
    const because = { code: 'budget_exhausted', effect };
    expect(await cluster.report()).toMatchObject({ reason: 'budget_exhausted', because });
    expect(cluster.first.events.of('session_rejected').at(-1)).toMatchObject({ result: 'budget_exhausted' });
    expect(cluster.conditions).toEqual(['dead', 'dead']);
    expect(cluster.causes).toEqual([because, { code: 'not_replaced', effect }]);
    // Nothing comes soon that a reader could wait for.
    const read = cluster.read({ waitMs: MINUTE, waitsThroughFailure: true }, 0);
    expect(await read).toMatchObject({ verdict: { result: 'fresh' } });
    await cluster.clock.advance(HOUR);
    await cluster.report();
    expect(cluster.conditions).toEqual(['fresh', 'fresh']);
    expect(cluster.causes).toEqual([undefined, undefined]);
  });

  it('is known although the announcement was lost, and although the store has lost everything since', async () => {
    const cluster = await reportedToOne();
    cluster.storeOf(1).losesAnnouncements = true;
    await cluster.report();
    await cluster.clock.advance(MINUTE);
    expect(cluster.conditions).toEqual(['dead', 'dead']);
    await cluster.first.stop();
    cluster.emptyStore();
    await cluster.clock.advance(MINUTE);
    cluster.addReplica();
    await cluster.clock.advance(5 * SECOND);
    expect(cluster.conditions.slice(1)).toEqual(['dead', 'dead']);
  });

  it('is so because the store is full, by the word of every replica whose own check finds that, and costs no call', async () => {
    const cluster = await reportedToOne({ settings: {} });
    // What tells of a death is written all the same.
    for (const store of cluster.stores) {
      store.failures = { claim: new BrokerError('store_refused', { detail: 'claim: OOM' }) };
    }
    expect(await cluster.report()).toMatchObject({ reason: 'store_refuses' });
    for (const { replica } of cluster.replicas) replica.storeRefuses();
    expect(cluster.conditions).toEqual(['dead', 'dead']);
    const because = { code: 'store_refuses', effect };
    expect(cluster.causes).toEqual([because, because]);
    expect(cluster.gateway.calls).toHaveLength(1);
    const [one] = cluster.replicas;
    await one?.replica.resync();
    expect(one?.replica.facts('shop').store).toBeUndefined();
  });
});
