import { jest } from '@jest/globals';
import { altered } from './altered-store.js';
import { Cluster, HOUR, MINUTE, neverAborted, SECOND } from './cluster.js';

const read = { merchant: 'shop', minRemainingMs: 0, waitMs: 1_000, waitsThroughFailure: false, signal: neverAborted };

/** A store from which someone removes the counts. */
const uncounted = altered(
  'claim',
  (store) => (request) => store.claim({ ...request, budget: [{ calls: 1e6, perMs: 1 }] }),
);

describe('a failing gateway', () => {
  it('that issues sessions of a second each cannot spend more than the budget, although somebody removes what the store has counted', async () => {
    const cluster = new Cluster({ lifetimeMs: 1_000, latencyMs: 1, wrapStore: uncounted });
    await cluster.clock.advance(10 * MINUTE - SECOND);
    expect(cluster.gateway.calls).toHaveLength(20);
    await cluster.clock.advance(10 * MINUTE);
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(40);
  });
});

describe('a store that does not answer', () => {
  it('is told once when the session has ended, and when the merchant is served again', async () => {
    const cluster = await Cluster.running();
    const told = (): readonly string[] =>
      cluster.first.events.all.flatMap((event) => (event.event.startsWith('service_') ? [event.event] : []));
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(20 * MINUTE);
    expect(told()).toEqual(['service_ended']);
    expect(cluster.first.events.of('service_ended')[0]?.cause?.code).toBe('store_silent');
    for (const store of cluster.stores) store.down = false;
    await cluster.clock.advance(MINUTE);
    expect(told().slice(1)).toEqual(['service_resumed']);
  });

  it('holds a renewal that is due back, and says so: nobody is renewing', async () => {
    const cluster = new Cluster({ settings: {} });
    const told = (): unknown[] => {
      const { replica } = cluster.first;
      return [replica.conditionOf('shop'), replica.causeFor('shop')?.code];
    };
    await cluster.clock.advance(MINUTE);
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(MINUTE);
    expect(told()).toEqual(['fresh', undefined]);
    const dueInMs = cluster.first.replica.held.untilRenewalMs('shop');
    await cluster.clock.advance(dueInMs + 5_000);
    expect(told()).toEqual(['failing', 'store_silent']);
    for (const store of cluster.stores) store.down = false;
    await cluster.clock.advance(5_000);
    expect(told()).toEqual(['fresh', undefined]);
  });

  it('is told once it is back of what it did not take, for every merchant', async () => {
    const merchants = ['shop', 'stall'];
    const cluster = new Cluster({ merchants, latencyMs: 300 });
    await cluster.clock.advance(200);
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(MINUTE);
    for (const store of cluster.stores) store.down = false;
    await cluster.clock.advance(3 * SECOND);
    cluster.addReplica();
    await cluster.clock.advance(100);
    for (const id of merchants) expect(cluster.session(1, id)).toEqual(cluster.session(0, id));
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('keeps no reader waiting at a replica that has never reached it', async () => {
    const cluster = new Cluster({ graceMs: 1_500 });
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(3_000);
    let refusal: unknown;
    cluster.first.replica.wishes.read({ ...read, waitMs: 30_000 }).catch((error: unknown) => (refusal = error));
    await cluster.clock.advance(1_000);
    expect(refusal).toMatchObject({ code: 'session_unavailable' });
  });

  it('is told of a session as old as it is, however long the process stood still before it asked again', async () => {
    const cluster = new Cluster({ latencyMs: 200 });
    await cluster.clock.advance(100);
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(150);
    for (const store of cluster.stores) store.down = false;
    cluster.clock.freeze(3_000);
    await cluster.clock.advance(100);
    const { states } = await cluster.store.read([{ merchant: 'shop', known: 0 }]);
    expect(states[0]?.stored).toMatchObject({ kind: 'session', ageMs: expect.closeTo(3_150, -2) as number });
  });
});

describe('a replica that is stopped', () => {
  it('finishes the renewal in flight within the grace period', async () => {
    const cluster = new Cluster({ latencyMs: 2_000 });
    await cluster.clock.advance(500);
    const stopped = cluster.first.stop(5_000);
    await cluster.clock.advance(2_000);
    await stopped;
    expect(cluster.first.events.of('renewal_finished')).toEqual([expect.objectContaining({ outcome: 'success' })]);
  });

  it('ends with the grace period although the store does not take what it has created', async () => {
    const cluster = new Cluster({ settings: { gatewayTimeoutMs: 60_000 }, latencyMs: 200 });
    await cluster.clock.advance(100);
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(200);
    const stopped = jest.fn();
    void cluster.first.stop(1_000).then(stopped);
    await cluster.clock.advance(900);
    expect(stopped).not.toHaveBeenCalled();
    await cluster.clock.advance(200);
    expect(stopped).toHaveBeenCalledTimes(1);
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('takes no new wish', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(1_000);
    await cluster.first.stop();
    await cluster.clock.advance(2 * HOUR);
    await expect(cluster.first.replica.wishes.read(read)).rejects.toMatchObject({ code: 'session_unavailable' });
    expect(cluster.gateway.calls).toHaveLength(1);
  });
});

describe('an outage of the gateway', () => {
  const merchants = Array.from({ length: 200 }, (_, index) => `shop-${index}`);
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;

  it('of minutes ends for everybody within three seconds, with few calls at once', async () => {
    const cluster = new Cluster({ replicas: 2, merchants, latencyMs: 100, random });
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'refuses connections' });
    await cluster.clock.advance(4 * MINUTE);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(3 * SECOND);
    for (const merchant of merchants) {
      expect(cluster.served(merchant).map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
    }
    expect(cluster.gateway.mostInFlightInAll).toBeLessThanOrEqual(2 * 32);
  });

  it('costs the store a few questions a second, not some for each merchant', async () => {
    const cluster = new Cluster({ merchants, latencyMs: 100, random });
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'refuses connections' });
    await cluster.clock.advance(2 * MINUTE);
    const before = cluster.stores[0]?.asksFor('read') ?? 0;
    await cluster.clock.advance(MINUTE);
    expect((cluster.stores[0]?.asksFor('read') ?? 0) - before).toBeLessThan(60 * 12);
  });
});
