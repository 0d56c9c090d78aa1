import { jest } from '@jest/globals';
import type { SessionStore } from '#libs/session';
import { aServerPublicKey } from '#libs/testing';
import { Cluster, neverAborted } from './cluster.js';
import type { FaultyStore } from './faulty-store.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function clusterWithFaultyStores(options: ConstructorParameters<typeof Cluster>[0] = {}): {
  cluster: Cluster;
  stores: readonly FaultyStore[];
} {
  const cluster = new Cluster(options);
  return { cluster, stores: cluster.stores };
}

const read = { merchant: 'shop', minRemainingMs: 0, waitMs: 1_000, waitsThroughFailure: false, signal: neverAborted };

describe('a failing gateway', () => {
  it('is asked again with growing pauses, and never in between', async () => {
    const cluster = new Cluster({ replicas: 3, latencyMs: 0, settings: { budget: [{ calls: 1_000, perMs: HOUR }] } });
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'overloaded' });
    await cluster.clock.advance(10 * MINUTE);
    const moments = cluster.gateway.calls.map(({ atMs }) => atMs);
    const pauses = moments.slice(1).map((atMs, index) => atMs - (moments[index] ?? 0));
    // With half of the jitter: 1.5, 2.5, 4.5, 8.5, 16.5, then 30.5 s, and up to a tick until the next look.
    [1_500, 2_500, 4_500, 8_500, 16_500, 30_500, 30_500].forEach((expected, index) => {
      expect(pauses[index]).toBeGreaterThanOrEqual(expected);
      expect(pauses[index]).toBeLessThanOrEqual(expected + 1_000);
    });
    expect(cluster.gateway.calls.length).toBeLessThan(26);
  });

  it('costs nothing while the running session lasts, and the next one comes as soon as it recovers', async () => {
    const cluster = new Cluster({ replicas: 2 });
    await cluster.clock.advance(1_000);
    const before = cluster.session();
    cluster.gateway.answerAlways({ kind: 'timeout', detail: 'no answer' });
    await cluster.clock.advance(850_000);
    expect(cluster.served().map((served) => served?.session.generation)).toEqual([
      before.generation,
      before.generation,
    ]);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(40_000);
    for (const served of cluster.served()) expect(served?.session.generation).toBeGreaterThan(before.generation);
  });

  it.each(['refused', 'revoked'] as const)(
    'that answers %s is asked soon four times, and then only every five minutes',
    async (kind) => {
      const cluster = new Cluster({ replicas: 2 });
      cluster.gateway.answerAlways({ kind, detail: 'no' });
      await cluster.clock.advance(HOUR);
      expect(cluster.gateway.calls.length).toBeGreaterThanOrEqual(11);
      expect(cluster.gateway.calls.length).toBeLessThanOrEqual(16);
    },
  );

  it('is given the time it asks for', async () => {
    const cluster = new Cluster({ latencyMs: 0 });
    cluster.gateway.answerNext({ kind: 'transient', detail: 'busy', retryAfterMs: 45_000 });
    await cluster.clock.advance(44_000);
    expect(cluster.gateway.calls).toHaveLength(1);
    await cluster.clock.advance(3_000);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('that issues sessions of a second each cannot spend more than the budget', async () => {
    const cluster = new Cluster({ replicas: 3, lifetimeMs: 1_000, latencyMs: 1 });
    await cluster.clock.advance(9 * MINUTE);
    expect(cluster.gateway.calls).toHaveLength(20);
    await cluster.clock.advance(10 * MINUTE);
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(40);
    expect(cluster.gateway.calls.length).toBeGreaterThan(20);
  });

  it('that issues a session past its expiry replaces nothing', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(1_000);
    const before = cluster.session();
    cluster.gateway.answerNext({ expiresAt: before.createdAt });
    await cluster.clock.advance(711_000);
    expect(cluster.session().generation).toBe(before.generation);
    expect(cluster.first.events.of('renewal_finished').at(-1)?.outcome).toBe('invalid_response');
    await cluster.clock.advance(10_000);
    expect(cluster.session().generation).toBeGreaterThan(before.generation);
  });

  it('is remembered with its last failure on every replica until a session comes', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 0 });
    cluster.gateway.answerNext({ kind: 'transient', detail: 'busy', msgCode: 'b_overload_error' });
    await cluster.clock.advance(500);
    for (const { replica } of cluster.replicas) {
      expect(replica.failures.get('shop')).toMatchObject({ kind: 'transient', msgCode: 'b_overload_error' });
    }
    await cluster.clock.advance(5_000);
    for (const { replica } of cluster.replicas) expect(replica.failures.get('shop')).toBeUndefined();
  });
});

describe('a replica that is lost during its call', () => {
  it('is followed by another after its lease, at the cost of one call', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ latencyMs: 300 });
    await cluster.clock.advance(100);
    const [store] = stores;
    if (store !== undefined) store.down = true;
    cluster.addReplica();
    await cluster.clock.advance(9_000);
    expect(cluster.gateway.calls).toHaveLength(1);
    await cluster.clock.advance(3_000);
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(cluster.served()[1]).toBeDefined();
    expect(cluster.gateway.mostInFlight).toBe(1);
  });

  it('publishes nothing when it wakes up after its lease', async () => {
    const cluster = new Cluster({ latencyMs: 300 });
    await cluster.clock.advance(100);
    cluster.clock.freeze(60_000);
    cluster.addReplica();
    await cluster.clock.advance(2_000);
    const late = cluster.first.events.of('renewal_finished')[0];
    expect(['lease_lost', 'timeout']).toContain(late?.outcome);
    expect(cluster.session(0).generation).toBe(cluster.session(1).generation);
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(2);
  });
});

describe('a store that does not answer', () => {
  it('is told once when a renewal is due, when the session has ended, and when the merchant is served again', async () => {
    const { cluster, stores } = clusterWithFaultyStores();
    await cluster.clock.advance(MINUTE);
    const told = (): readonly string[] =>
      cluster.first.events.all.flatMap((event) =>
        'merchants' in event ? [`${event.event} ${event.merchants.join(',')}`] : [],
      );
    for (const store of stores) store.down = true;
    await cluster.clock.advance(20 * MINUTE);
    expect(told()).toEqual(['renewal_blocked shop', 'service_ended shop']);
    expect(cluster.first.events.of('service_ended')[0]?.cause?.code).toBe('store_silent');
    for (const store of stores) store.down = false;
    await cluster.clock.advance(MINUTE);
    expect(told().slice(2)).toEqual(['service_resumed shop']);
  });

  it('holds a renewal that is due back, and says so: nobody is renewing', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ settings: { onStoreOutage: 'fail' } });
    const told = (): unknown[] => {
      const { replica } = cluster.first;
      return [replica.conditionOf('shop'), replica.causeFor('shop')?.code];
    };
    await cluster.clock.advance(MINUTE);
    for (const store of stores) store.down = true;
    await cluster.clock.advance(MINUTE);
    expect(told()).toEqual(['fresh', undefined]);
    const dueInMs = cluster.first.replica.held.untilRenewalMs('shop');
    await cluster.clock.advance(dueInMs + 5_000);
    expect(told()).toEqual(['failing', 'store_silent']);
    for (const store of stores) store.down = false;
    await cluster.clock.advance(5_000);
    expect(told()).toEqual(['fresh', undefined]);
  });

  it('does not keep memory from serving until expiry, and never longer', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ replicas: 2 });
    await cluster.clock.advance(1_000);
    for (const store of stores) store.down = true;
    await cluster.clock.advance(898_000);
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['stale', 'stale']);
    await cluster.clock.advance(2_000);
    expect(cluster.served()).toEqual([undefined, undefined]);
  });

  it('heals within two seconds of its return, on all replicas, with one call', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ replicas: 3 });
    await cluster.clock.advance(1_000);
    for (const store of stores) store.down = true;
    await cluster.clock.advance(20 * MINUTE);
    for (const store of stores) store.down = false;
    await cluster.clock.advance(2_000);
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(new Set(cluster.served().map((served) => served?.session.generation)).size).toBe(1);
    for (const { events } of cluster.replicas) expect(events.of('store_recovered')).toHaveLength(1);
  });

  it('is reported with the operation that failed', async () => {
    const { cluster, stores } = clusterWithFaultyStores();
    for (const store of stores) store.down = true;
    await cluster.clock.advance(1_500);
    expect(cluster.first.events.of('store_failed')[0]).toMatchObject({ operation: 'seat' });
    const refused = cluster.first.replica.reader.read(read);
    await expect(refused).rejects.toMatchObject({ code: 'session_unavailable', reason: 'store_silent' });
  });

  it('that loses announcements costs a delay, never a session past its margin', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ replicas: 2 });
    await cluster.clock.advance(1_000);
    for (const store of stores) store.losesAnnouncements = true;
    for (let minute = 0; minute < 40; minute += 1) {
      await cluster.clock.advance(MINUTE);
      expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
    }
    expect(cluster.gateway.mostInFlight).toBe(1);
  });

  it('that loses the answer to a publication does not cost a second call', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ replicas: 2 });
    for (const store of stores) store.losesNextAnswerOf = 'publish';
    await cluster.clock.advance(5_000);
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(cluster.session(0).generation).toBe(cluster.session(1).generation);
  });
});

describe('a store that does not answer, where replicas may authorize alone', () => {
  const settings = { onStoreOutage: 'authorize' } as const;

  it('does not stop sessions: each replica creates its own past the margin', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ replicas: 3, settings });
    await cluster.clock.advance(1_000);
    for (const store of stores) store.down = true;
    for (let minute = 0; minute < 30; minute += 1) {
      await cluster.clock.advance(MINUTE);
      for (const served of cluster.served()) expect(served).toBeDefined();
    }
    // Half an hour holds two lifetimes, and each of three replicas creates its own sessions.
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(1 + 3 * 3);
  });

  it('makes no call before the margin', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ replicas: 3, settings });
    await cluster.clock.advance(1_000);
    for (const store of stores) store.down = true;
    await cluster.clock.advance(860_000);
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(cluster.served().every((served) => served?.verdict.result === 'fresh')).toBe(true);
  });

  it('ends with a session that lives on all replicas: where nobody can tell which was last, one more renewal settles it', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ replicas: 3, settings });
    await cluster.clock.advance(1_000);
    for (const store of stores) store.down = true;
    await cluster.clock.advance(16 * MINUTE);
    const generations = cluster.served().map((served) => served?.session.generation ?? 0);
    const callsInOutage = cluster.gateway.calls.length;
    expect(new Set(generations).size).toBe(3);
    for (const store of stores) store.down = false;
    await cluster.clock.advance(3_000);
    const tokens = cluster.served().map((served) => served?.session.authToken);
    expect(new Set(tokens)).toEqual(new Set([cluster.gateway.liveToken('shop')]));
    expect(Math.min(...cluster.served().map((served) => served?.session.generation ?? 0))).toBeGreaterThan(
      Math.max(...generations),
    );
    expect(cluster.gateway.calls.length - callsInOutage).toBe(1);
  });

  it('settles which session lives as soon as the store is back, whatever time others have to come to it', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ replicas: 3, settings, graceMs: 1_500 });
    await cluster.clock.advance(3_000);
    for (const store of stores) store.down = true;
    await cluster.clock.advance(16 * MINUTE);
    const callsInOutage = cluster.gateway.calls.length;
    for (const store of stores) store.down = false;
    for (const { replica } of cluster.replicas) void replica.resync();
    await cluster.clock.advance(200);
    expect(cluster.deadTokens()).toEqual([]);
    expect(cluster.gateway.calls.length - callsInOutage).toBe(1);
    await cluster.clock.advance(MINUTE);
    expect(cluster.gateway.calls.length - callsInOutage).toBe(1);
  });

  it('lets the newest generation win without another call where a new session ends no other', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ replicas: 3, settings: { ...settings, supersedes: false } });
    await cluster.clock.advance(1_000);
    for (const store of stores) store.down = true;
    await cluster.clock.advance(16 * MINUTE);
    const newest = Math.max(...cluster.served().map((served) => served?.session.generation ?? 0));
    const callsInOutage = cluster.gateway.calls.length;
    for (const store of stores) store.down = false;
    await cluster.clock.advance(2_000);
    expect(cluster.served().map((served) => served?.session.generation)).toEqual([newest, newest, newest]);
    expect(cluster.gateway.calls).toHaveLength(callsInOutage);
  });

  it('costs no call on the return of the store when one replica alone has made a session', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ settings });
    await cluster.clock.advance(1_000);
    for (const store of stores) store.down = true;
    await cluster.clock.advance(16 * MINUTE);
    const { generation } = cluster.session();
    for (const store of stores) store.down = false;
    await cluster.clock.advance(3_000);
    expect(cluster.session().generation).toBe(generation);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('makes nothing on a replica that has never reached the store, which serves nothing', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ settings });
    for (const store of stores) store.down = true;
    const reading = Promise.allSettled([cluster.first.replica.reader.read({ ...read, waitMs: 60_000 })]);
    await cluster.clock.advance(MINUTE);
    await reading;
    expect(cluster.served()).toEqual([undefined]);
    expect(cluster.gateway.calls).toEqual([]);
  });

  it('keeps each replica to its own count of the budget, to ten seconds between calls, and to the back-off', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ settings, lifetimeMs: 1_000, latencyMs: 0 });
    await cluster.clock.advance(500);
    for (const store of stores) store.down = true;
    const reading = { ...read, waitMs: 0 };
    for (let second = 0; second < 600; second += 5) {
      const settled = Promise.allSettled([cluster.first.replica.reader.read(reading)]);
      if (second === 100) cluster.gateway.answerNext({ kind: 'transient', detail: 'busy' });
      await cluster.clock.advance(5_000);
      await settled;
    }
    const moments = cluster.gateway.calls.map(({ atMs }) => atMs);
    expect(moments.length).toBeLessThanOrEqual(20);
    expect(moments.length).toBeGreaterThan(10);
    const alone = moments.filter((atMs) => atMs > 1_000);
    const pauses = alone.slice(1).map((atMs, index) => atMs - (alone[index] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(10_000);
  });

  it('offers a session whose publication was not answered, and serves it meanwhile', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ settings, latencyMs: 200 });
    await cluster.clock.advance(100);
    const [holder] = stores;
    if (holder !== undefined) holder.down = true;
    await cluster.clock.advance(10_000);
    const { generation } = cluster.session(0);
    expect(cluster.first.events.of('unconfirmed_publish')).toHaveLength(1);
    if (holder !== undefined) holder.down = false;
    await cluster.clock.advance(2_000);
    cluster.addReplica();
    await cluster.clock.advance(1_000);
    expect(cluster.session(1).generation).toBe(generation);
    expect(cluster.gateway.calls).toHaveLength(1);
  });
});

describe('a wall clock that is set', () => {
  it('an hour back does not let an expired session be served', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(1_000);
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'down' });
    cluster.clock.jumpWall(-HOUR);
    await cluster.clock.advance(900_000);
    expect(cluster.served()).toEqual([undefined]);
  });

  it('an hour forward is made up for by one renewal, because the gateway clock judges', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(1_000);
    cluster.clock.jumpWall(HOUR);
    const served = cluster.first.replica.reader.read(read);
    await cluster.clock.advance(1_000);
    expect((await served).verdict.result).toBe('fresh');
    expect(cluster.gateway.calls).toHaveLength(2);
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

  it('frees its lease when the renewal outlasts the grace period, so that another goes on at once', async () => {
    const cluster = new Cluster({ latencyMs: 4_000 });
    await cluster.clock.advance(500);
    const stopped = cluster.first.stop(1_000);
    await cluster.clock.advance(1_000);
    await stopped;
    expect(cluster.first.events.of('renewal_abandoned')).toHaveLength(1);
    cluster.addReplica();
    await cluster.clock.advance(5_000);
    expect(cluster.served()[1]).toBeDefined();
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('ends with the grace period although the store does not take what it has created', async () => {
    const { cluster, stores } = clusterWithFaultyStores({ settings: { gatewayTimeoutMs: 60_000 }, latencyMs: 200 });
    await cluster.clock.advance(100);
    for (const store of stores) store.down = true;
    await cluster.clock.advance(200);
    const stopped = jest.fn();
    void cluster.first.stop(1_000).then(stopped);
    await cluster.clock.advance(900);
    expect(stopped).not.toHaveBeenCalled();
    await cluster.clock.advance(200);
    expect(stopped).toHaveBeenCalledTimes(1);
    expect(cluster.first.events.of('unconfirmed_publish')).toHaveLength(1);
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('takes no new wish', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(1_000);
    await cluster.first.stop();
    await cluster.clock.advance(2 * HOUR);
    await expect(cluster.first.replica.reader.read(read)).rejects.toMatchObject({ code: 'session_unavailable' });
    expect(cluster.gateway.calls).toHaveLength(1);
  });
});

describe('a store that fails and comes back while a replica reads it for the first time', () => {
  it('is read again, for it may have lost what was enrolled before', async () => {
    const enrolled: (readonly string[])[] = [];
    const wrapStore = (store: SessionStore): SessionStore =>
      new Proxy(store, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function' || name !== 'enrol')
            return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
          return (merchants: readonly string[]): Promise<void> => {
            enrolled.push(merchants);
            if (enrolled.length === 1) void cluster.first.replica.resync();
            return target.enrol(merchants);
          };
        },
      });
    const cluster = new Cluster({ wrapStore });
    await cluster.clock.advance(500);
    expect(enrolled).toEqual([['shop'], ['shop']]);
  });
});

/** What the bank may answer after it has restored access: nothing need be as it was. */
const restored = {
  authToken: '00000000-0000-4000-8000-0000000000aa',
  deviceId: '22222222-0000-4000-8000-000000000000',
  refreshToken: '33333333-0000-4000-8000-000000000000',
  serverPublic: { ...aServerPublicKey(), x: aServerPublicKey().y, y: aServerPublicKey().x },
};

describe('an access that the bank has restored', () => {
  it('brings new parameters, all of which every replica takes over, and a replica that starts later as well', async () => {
    const cluster = new Cluster({ replicas: 3, latencyMs: 10 });
    cluster.gateway.answerNext({ refreshToken: '44444444-0000-4000-8000-000000000000' });
    await cluster.clock.advance(MINUTE);
    const before = cluster.session();
    cluster.gateway.answerAlways({ kind: 'revoked', detail: 'revoked', msgCode: 'b_auth_token_expired' });
    await cluster.clock.advance(20 * MINUTE);
    expect(cluster.first.replica.failures.get('shop')).toMatchObject({
      kind: 'revoked',
      msgCode: 'b_auth_token_expired',
    });
    cluster.gateway.answerAlways(restored);
    await cluster.clock.advance(6 * MINUTE);
    cluster.addReplica();
    await cluster.clock.advance(5_000);
    for (const replica of [0, 1, 2, 3]) {
      expect(cluster.session(replica)).toMatchObject(restored);
      expect(cluster.session(replica).generation).toBeGreaterThan(before.generation);
    }
    const adopted = cluster.replicas.flatMap(({ events }) => events.of('session_adopted').slice(-1));
    expect(adopted.slice(0, 3).map(({ serverKeyChanged }) => serverKeyChanged)).toEqual([true, true, true]);
  });

  it('without a refreshToken leaves no replica with the one that was there before', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 10 });
    cluster.gateway.answerNext({ refreshToken: '44444444-0000-4000-8000-000000000000' });
    await cluster.clock.advance(MINUTE);
    expect(cluster.session().refreshToken).toBeDefined();
    await cluster.clock.advance(15 * MINUTE);
    for (const replica of [0, 1]) expect(cluster.session(replica)).not.toHaveProperty('refreshToken');
  });
});
