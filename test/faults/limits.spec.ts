import { type ClaimRequest, GatewayFailure, type SessionStore } from '#libs/session';
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

describe('a budget that is spent', () => {
  it('is the reason for which there is no session, and not the failures that have spent it', async () => {
    const cluster = new Cluster({ replicas: 1, settings: { budget: [{ calls: 1, perMs: HOUR }] } });
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'overloaded' });
    await cluster.clock.advance(30_000);
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(cluster.first.replica.whyUnavailable('shop')).toBe('budget_exhausted');
  });
});

describe('a session that is reported dead while the share of the budget for that is spent', () => {
  const settings = { budget: [{ calls: 2, perMs: HOUR }] };
  async function reported(cluster: Cluster): Promise<unknown> {
    const { generation } = cluster.session();
    const report = { merchant: 'shop', generation, reason: 'b_used_token', waitMs: SECOND, signal: neverAborted };
    const answer = cluster.first.replica.wishes.reject(report).catch((error: unknown) => error);
    await cluster.clock.advance(2 * SECOND);
    return answer;
  }

  it('is no fresh merchant: everybody is told that it is not replaced, why, and before when', async () => {
    const cluster = new Cluster({ replicas: 1, settings });
    const { replica } = cluster.first;
    await cluster.clock.advance(MINUTE);
    const because = { code: 'budget_exhausted', shareSpentUntil: expect.any(Number), effect: 'reported_dead' };
    expect(await reported(cluster)).toMatchObject({ reason: 'budget_exhausted', because });
    expect(replica.conditionOf('shop')).toBe('dead');
    expect(replica.causeFor('shop')).toEqual(because);
    expect(replica.wishes.verdict('shop').result).toBe('fresh');
  });

  it('is well again with a newer session', async () => {
    // A call is free again before that session ends.
    const cluster = new Cluster({ replicas: 1, settings: { budget: [{ calls: 2, perMs: 20 * MINUTE }] } });
    const { replica } = cluster.first;
    await cluster.clock.advance(MINUTE);
    await reported(cluster);
    await cluster.clock.advance(14 * MINUTE);
    expect(replica.conditionOf('shop')).toBe('fresh');
    expect(replica.causeFor('shop')).toBeUndefined();
  });

  it('is not forgotten when the share is free again and nobody has replaced it', async () => {
    const cluster = new Cluster({ replicas: 1, lifetimeMs: 4 * HOUR, settings });
    const { replica } = cluster.first;
    await cluster.clock.advance(MINUTE);
    await reported(cluster);
    await cluster.clock.advance(HOUR);
    expect(replica.causeFor('shop')).toEqual({ code: 'not_replaced', effect: 'reported_dead' });
    await reported(cluster);
    expect(replica.causeFor('shop')).toBeUndefined();
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

describe('a merchant whose configuration was mended', () => {
  it('is tried at once, whatever its back-off', async () => {
    const cluster = new Cluster({ replicas: 2, merchants: ['shop', 'kiosk'] });
    cluster.gateway.answerAlways({ kind: 'refused', detail: 'no such merchant', msgCode: 'b_merchant_not_found' });
    await cluster.clock.advance(MINUTE);
    const refused = cluster.gateway.calls.length;
    cluster.gateway.answerAlways(undefined);
    const change = { added: [], removed: [], changed: ['shop'] };
    const told = Promise.all(cluster.replicas.map(({ replica }) => replica.merchantsChanged(change)));
    await cluster.clock.advance(SECOND);
    await told;
    expect(cluster.served('shop').map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
    expect(cluster.served('kiosk')).toEqual([undefined, undefined]);
    expect(cluster.gateway.calls).toHaveLength(refused + 1);
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

  it('that takes no connections ends within three seconds for a merchant that is alone with its gateway', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 10, random });
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'ECONNREFUSED', wasReached: false });
    await cluster.clock.advance(4 * MINUTE);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(3 * SECOND);
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
  });

  it('costs the store a few questions a second, not some for each merchant', async () => {
    const cluster = new Cluster({ merchants, latencyMs: 100, random });
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'refuses connections' });
    await cluster.clock.advance(2 * MINUTE);
    const before = cluster.stores[0]?.asksFor('read') ?? 0;
    await cluster.clock.advance(MINUTE);
    expect((cluster.stores[0]?.asksFor('read') ?? 0) - before).toBeLessThan(60 * 12);
  });

  it('of one merchant alone is not ended by the success of another', async () => {
    const cluster = new Cluster({ merchants: ['shop', 'kiosk'], lifetimeMs: 20 * SECOND, latencyMs: 0 });
    const create = cluster.gateway.createSession.bind(cluster.gateway);
    let calls = 0;
    cluster.gateway.createSession = async (request) => {
      if (request.merchant !== 'kiosk') return create(request);
      calls += 1;
      throw new GatewayFailure({ kind: 'transient', detail: 'an unknown code' });
    };
    await cluster.clock.advance(3 * MINUTE);
    expect(calls).toBeLessThanOrEqual(12);
  });
});
