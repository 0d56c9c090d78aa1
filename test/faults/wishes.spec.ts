import { msBetween } from '#libs/clock';
import { Cluster, type ClusterOptions, HOUR, MINUTE, neverAborted, SECOND } from './cluster.js';
import { altered } from './faulty-store.js';

const refusal = { kind: 'refused', detail: 'no such merchant', msgCode: 'b_merchant_not_found' } as const;
const unavailable = (reason: string): unknown => expect.objectContaining({ code: 'session_unavailable', reason });

describe('a reader', () => {
  it.each([false, true])(
    'is given the session that is there, and the store is asked nothing (%s)',
    async (waitsThroughFailure) => {
      const cluster = await Cluster.running();
      const asked = cluster.storeOf(0).asked.length;
      await cluster.first.replica.wishes.read({
        ...{ merchant: 'shop', minRemainingMs: 0, waitMs: SECOND, waitsThroughFailure, signal: neverAborted },
      });
      expect(cluster.storeOf(0).asked).toHaveLength(asked);
    },
  );

  it('is refused when the attempt of another replica has failed, and need not wait for the end of its time', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 2_000, tickMs: HOUR });
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'overloaded' });
    await cluster.clock.advance(SECOND);
    const calling = cluster.replicas.findIndex(({ replica }) => replica.isRenewing('shop'));
    const answer = await cluster.read({ waitMs: MINUTE }, 1_500, 1 - calling);
    expect(answer).toMatchObject({ reason: 'transient' });
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('waits for a newer one if less is left than wanted, unless a new one could not fulfil the wish for long', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(5 * MINUTE);
    const before = cluster.session().generation;
    await cluster.read({ minRemainingMs: 11 * MINUTE });
    const { generation } = cluster.session();
    expect(generation).toBeGreaterThan(before);
    expect(await cluster.read({ minRemainingMs: HOUR })).toMatchObject({ session: { generation } });
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('is served at once past the margin while the gateway fails, and refused only after expiry', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(SECOND);
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'overloaded' });
    await cluster.clock.advance(890 * SECOND);
    expect(await cluster.read({}, 0)).toMatchObject({ verdict: { result: 'stale', reason: 'past_margin' } });
    await cluster.clock.advance(10 * SECOND);
    expect(await cluster.read()).toMatchObject({ reason: 'transient', retryAfterMs: expect.any(Number) });
  });

  it('who says that it will wait starts a renewal where there is nothing to serve, and none where there is', async () => {
    const cluster = new Cluster();
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'overloaded' });
    await cluster.clock.advance(2 * MINUTE);
    cluster.gateway.answerAlways(undefined);
    const { replica, events } = cluster.first;
    for (let second = 0; second < 12; second += 1) {
      replica.wishes.demand('shop');
      await cluster.clock.advance(SECOND);
    }
    expect(events.of('renewal_finished').at(-1)).toMatchObject({ trigger: 'demand', outcome: 'success' });
    const calls = cluster.gateway.calls.length;
    replica.wishes.demand('shop');
    await cluster.clock.advance(MINUTE);
    expect(cluster.gateway.calls).toHaveLength(calls);
  });

  it('who has a session gets the next one when it is there, or nothing in its time', async () => {
    const cluster = await Cluster.running({ latencyMs: 50 });
    cluster.storeOf(0).losesAnnouncements = true;
    const { generation } = cluster.session();
    const newer = (waitMs: number) =>
      cluster.first.replica.wishes.newerThan(generation, { merchant: 'shop', signal: neverAborted, waitMs });
    const timers = cluster.clock.pendingTasks;
    const [soon, later] = [newer(MINUTE), newer(HOUR)];
    let gotAtMs = 0;
    void later.then(() => (gotAtMs = cluster.clock.monotonicMs()));
    await cluster.clock.advance(13 * MINUTE);
    expect(await soon).toBeUndefined();
    expect(gotAtMs).toBe((cluster.gateway.calls[1]?.atMs ?? 0) + 50);
    expect((await later)?.generation).toBe(cluster.session().generation);
    expect(cluster.clock.pendingTasks).toBe(timers);
    expect(cluster.session().generation).toBeGreaterThan(generation);
  });

  it('shares a look at the store with all who ask at once, unless it looks for what came since', async () => {
    const cluster = await Cluster.running();
    const { replica } = cluster.first;
    const before = cluster.storeOf(0).asksFor('read');
    const reads = (): number => cluster.storeOf(0).asksFor('read') - before;
    await Promise.all([replica.lookUp('shop'), replica.lookUp('shop')]);
    expect(reads()).toBe(1);
    await Promise.all([replica.lookUp('shop'), replica.lookUp('shop', { anew: true })]);
    expect(reads()).toBe(3);
  });
});

describe('a person who wants a newer session', () => {
  /** What comes of a request at each of these replicas at once. */
  const wanted = (cluster: Cluster, ...replicas: readonly number[]): Promise<readonly unknown[]> =>
    Promise.all(replicas.map((replica) => cluster.renew(7 * SECOND, 2 * SECOND, replica)));

  it('gets the same as all others at every replica for one call, whatever back-off ran, be it refused or not', async () => {
    const cluster = await Cluster.running({ replicas: 3, latencyMs: 300 });
    cluster.gateway.answerAlways(refusal);
    expect(await wanted(cluster, 0, 1, 2)).toEqual(new Array(3).fill(unavailable('refused')));
    expect(cluster.gateway.calls).toHaveLength(2);
    await cluster.clock.advance(4 * MINUTE);
    // The back-off after a further refusal is as it would have been.
    expect(cluster.gateway.calls).toHaveLength(2);
    await cluster.clock.advance(26 * MINUTE);
    expect(cluster.served()).toEqual([undefined, undefined, undefined]);
    cluster.gateway.answerAlways(undefined);
    const calls = cluster.gateway.calls.length;
    const answers = await wanted(cluster, 0, 0, 1, 1, 2, 2);
    const renewed = { kind: 'renewed', session: { generation: cluster.session().generation } };
    expect(answers).toMatchObject(answers.map(() => renewed));
    expect(cluster.gateway.calls).toHaveLength(calls + 1);
    const renewals = cluster.replicas.flatMap(({ events }) => events.of('renewal_finished'));
    expect(renewals).toContainEqual(expect.objectContaining({ trigger: 'operator', outcome: 'success' }));
  });

  it('replaces a session that is good, and gets one that was created within ten seconds instead', async () => {
    const cluster = await Cluster.running({ replicas: 2, latencyMs: 10 });
    const first = cluster.session().generation;
    const [answer] = await wanted(cluster, 0);
    const { generation, createdAt } = cluster.session();
    expect(generation).toBeGreaterThan(first);
    expect(answer).toMatchObject({ kind: 'renewed', session: { generation } });
    const retryInMs = 10_000 - msBetween(createdAt, cluster.now());
    const just = { kind: 'just_renewed', session: { generation }, retryInMs };
    expect(await wanted(cluster, 0, 1)).toMatchObject([just, just]);
    expect(retryInMs).toBeLessThan(10_000);
    await cluster.clock.advance(10 * SECOND);
    await wanted(cluster, 1);
    expect(cluster.session().generation).toBeGreaterThan(generation);
    expect(cluster.gateway.calls).toHaveLength(3);
  });

  it('has a call of its own when the attempt that was under way fails', async () => {
    const cluster = await Cluster.running({ latencyMs: 1_000 });
    cluster.gateway.answerAlways(refusal);
    while (!cluster.first.replica.isRenewing('shop')) await cluster.clock.advance(500);
    cluster.gateway.answerAlways(undefined);
    cluster.gateway.answerNext(refusal);
    const [answer] = await wanted(cluster, 0);
    expect(answer).toMatchObject({ kind: 'renewed', session: { generation: cluster.session().generation } });
  });

  it('gets what comes of the attempt that was under way, without a call of its own', async () => {
    const cluster = await Cluster.running({ latencyMs: 1_000 });
    while (!cluster.first.replica.isRenewing('shop')) await cluster.clock.advance(500);
    const [answer] = await wanted(cluster, 0);
    expect(answer).toMatchObject({ kind: 'renewed', session: { generation: cluster.session().generation } });
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('is answered in time when the gateway is not', async () => {
    const cluster = await Cluster.running({ settings: { gatewayTimeoutMs: 60_000 } });
    cluster.gateway.latencyMs = 60_000;
    expect(await cluster.renew(7 * SECOND, 7 * SECOND)).toEqual(unavailable('renewing'));
    expect(cluster.first.replica.isRenewing('shop')).toBe(true);
  });
});

describe('a create-call budget that is spent', () => {
  /** Sessions of a quarter of an hour are renewed after twelve minutes: the third call of the hour is refused. */
  const settings = { budget: [{ calls: 2, perMs: HOUR }] };
  const spent = {
    code: 'budget_exhausted',
    spent: { window: { calls: 2, perMs: HOUR }, freeAt: expect.any(Number) as number },
  };

  it('is told at every replica, with what is spent and the next attempt, and to who reads in vain', async () => {
    const cluster = new Cluster({ replicas: 2, settings });
    await cluster.clock.advance(24 * MINUTE);
    expect(cluster.conditions).toEqual(['failing', 'failing']);
    expect(cluster.causes).toEqual([1, 2].map(() => ({ ...spent, effect: 'not_renewed' })));
    for (const { replica } of cluster.replicas) expect(replica.retryInMs('shop')).toBeGreaterThan(35 * MINUTE);
    await cluster.clock.advance(6 * MINUTE);
    const because = { ...spent, effect: 'payments_fail' };
    expect(await cluster.read()).toMatchObject({ reason: 'budget_exhausted', because });
  });

  it('is told to nobody while a call will be free long before a renewal is due', async () => {
    const cluster = await Cluster.running({ settings: { budget: [{ calls: 1, perMs: 5 * MINUTE }] } });
    expect([cluster.conditions, cluster.first.replica.retryInMs('shop')]).toEqual([['fresh'], undefined]);
  });

  it('is told before a renewal is due, as soon as no call is free before the session ends', async () => {
    const cluster = await Cluster.running({ settings });
    await cluster.renew();
    await cluster.clock.advance(MINUTE);
    expect(cluster.conditions).toEqual(['failing']);
    expect(cluster.causes).toEqual([{ ...spent, effect: 'not_renewed' }]);
    expect(cluster.first.replica.retryInMs('shop')).toBeGreaterThan(57 * MINUTE);
  });

  it.each([1, 2])('is why a person is refused, with when a call is free, with %d replicas', async (replicas) => {
    const options: ClusterOptions = { replicas, lifetimeMs: 2 * HOUR, settings };
    const cluster = await Cluster.running(options);
    const startedAt = cluster.now() - MINUTE;
    await cluster.renew();
    await cluster.clock.advance(MINUTE);
    const refused = await cluster.renew();
    expect(refused).toMatchObject({ reason: 'budget_exhausted', because: { ...spent, effect: 'no_call' } });
    expect(cluster.first.replica.conditionOf('shop')).toBe('fresh');
    const { retryAfterMs = 0 } = refused as { readonly retryAfterMs?: number };
    expect(cluster.now() - SECOND + retryAfterMs).toBeLessThanOrEqual(startedAt + HOUR);
    expect(retryAfterMs).toBeGreaterThan(57 * MINUTE);
  });

  it('is spent by no gateway that issues sessions of a second, although somebody removes what the store has counted', async () => {
    const cluster = new Cluster({ lifetimeMs: SECOND, latencyMs: 1 });
    const uncounted = altered('claim', (store) => (request) => {
      return store.claim({ ...request, budget: [{ calls: 1e6, perMs: 1 }] });
    });
    cluster.storeOf(0).attach(uncounted(cluster.store));
    await cluster.clock.advance(10 * MINUTE - SECOND);
    expect(cluster.gateway.calls).toHaveLength(20);
    await cluster.clock.advance(10 * MINUTE);
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(40);
  });
});
