import type { ClaimRequest, SessionStore } from '#libs/session';
import { Cluster, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const read = { merchant: 'shop', minRemainingMs: 0, waitMs: 1_000, waitsThroughFailure: false, signal: neverAborted };

/** A store from which someone removes the counts. */
const uncounted = (store: SessionStore): SessionStore =>
  new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'claim') return (member as () => unknown).bind(target);
      return (request: ClaimRequest) => target.claim({ ...request, budget: [{ calls: 1e6, perMs: 1 }] });
    },
  });

describe('a forged announcement', () => {
  it.each([2 ** 53 - 1, Number.NaN])('of generation %d causes a read and sets nothing', async (generation) => {
    const cluster = new Cluster({ replicas: 2 });
    await cluster.clock.advance(MINUTE);
    const [store] = cluster.stores;
    const readsBefore = store?.asksFor('read') ?? 0;
    for (let count = 0; count < 1_000; count += 1) store?.announce({ kind: 'changed', merchant: 'shop', generation });
    await cluster.clock.advance(100);
    expect((store?.asksFor('read') ?? 0) - readsBefore).toBeLessThan(10);
    expect(cluster.first.replica.held.of('shop').floor).toBe(cluster.session().generation);
    await cluster.clock.advance(20 * MINUTE);
    expect(cluster.session().generation).toBeLessThan(2e12);
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('of a failure blocks no rejection and shows no failure to anybody', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(MINUTE);
    cluster.stores[0]?.announce({ kind: 'changed', merchant: 'shop' });
    await cluster.clock.advance(10);
    expect(cluster.first.replica.failureOf('shop')).toBeUndefined();
    expect(cluster.first.replica.retryInMs('shop')).toBeUndefined();
    const { generation } = cluster.session();
    const report = { merchant: 'shop', generation, reason: 'b_used_token', waitMs: SECOND, signal: neverAborted };
    const answer = cluster.first.replica.wishes.reject(report);
    await cluster.clock.advance(SECOND);
    expect(await answer).toMatchObject({ kind: 'renewed' });
  });
});

describe('the budget of a replica in its own memory', () => {
  it('holds although somebody removes what the store has counted', async () => {
    const cluster = new Cluster({ lifetimeMs: 1_000, latencyMs: 1, wrapStore: uncounted });
    await cluster.clock.advance(10 * MINUTE - SECOND);
    expect(cluster.gateway.calls).toHaveLength(20);
    await cluster.clock.advance(10 * MINUTE);
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(40);
  });
});

describe('a caller who may only read', () => {
  it('costs at most one call in a quarter of a lifetime, however much time it wants left', async () => {
    const cluster = new Cluster({ lifetimeMs: 24 * HOUR, settings: { fallbackLifetimeMs: 8 * HOUR } });
    await cluster.clock.advance(MINUTE);
    for (const minRemainingMs of [HOUR, 17 * HOUR, 23.9 * HOUR, 48 * HOUR]) {
      for (let count = 0; count < 360; count += 1) {
        const settled = Promise.allSettled([cluster.first.replica.wishes.read({ ...read, minRemainingMs })]);
        await cluster.clock.advance(10 * SECOND);
        await settled;
      }
    }
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
