import { jest } from '@jest/globals';
import { aServerPublicKey, someSettings } from '#libs/testing';
import { altered } from './altered-store.js';
import { Cluster, HOUR, MINUTE, neverAborted, SECOND } from './cluster.js';

const read = { merchant: 'shop', minRemainingMs: 0, waitMs: 1_000, waitsThroughFailure: false, signal: neverAborted };

/** A store from which someone removes the counts. */
const uncounted = altered(
  'claim',
  (store) => (request) => store.claim({ ...request, budget: [{ calls: 1e6, perMs: 1 }] }),
);

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

  it('is given the time it asks for', async () => {
    const cluster = new Cluster({ latencyMs: 0 });
    cluster.gateway.answerNext({ kind: 'transient', detail: 'busy', retryAfterMs: 45_000 });
    await cluster.clock.advance(44_000);
    expect(cluster.gateway.calls).toHaveLength(1);
    await cluster.clock.advance(3_000);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('that issues sessions of a second each cannot spend more than the budget, although somebody removes what the store has counted', async () => {
    const cluster = new Cluster({ lifetimeMs: 1_000, latencyMs: 1, wrapStore: uncounted });
    await cluster.clock.advance(10 * MINUTE - SECOND);
    expect(cluster.gateway.calls).toHaveLength(20);
    await cluster.clock.advance(10 * MINUTE);
    expect(cluster.gateway.calls.length).toBeLessThanOrEqual(40);
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

  it('keeps no reader waiting at a replica that has never reached it', async () => {
    const cluster = new Cluster({ graceMs: 1_500 });
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(3_000);
    let refusal: unknown;
    cluster.first.replica.wishes.read({ ...read, waitMs: 30_000 }).catch((error: unknown) => (refusal = error));
    await cluster.clock.advance(1_000);
    expect(refusal).toMatchObject({ code: 'session_unavailable' });
  });

  it('does not keep memory from serving until expiry, and never longer', async () => {
    const cluster = new Cluster({ replicas: 2 });
    await cluster.clock.advance(1_000);
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(898_000);
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['stale', 'stale']);
    await cluster.clock.advance(2_000);
    expect(cluster.served()).toEqual([undefined, undefined]);
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

  it('heals within two seconds of its return, on all replicas, with one call', async () => {
    const cluster = new Cluster({ replicas: 3 });
    await cluster.clock.advance(1_000);
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(20 * MINUTE);
    for (const store of cluster.stores) store.down = false;
    await cluster.clock.advance(2_000);
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(new Set(cluster.served().map((served) => served?.session.generation)).size).toBe(1);
    for (const { events } of cluster.replicas) expect(events.of('store_recovered')).toHaveLength(1);
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

/** What the bank may answer after it has restored access: nothing need be as it was. */
const restored = {
  authToken: '00000000-0000-4000-8000-0000000000aa',
  deviceId: '22222222-0000-4000-8000-000000000000',
  serverPublic: { ...aServerPublicKey(), x: aServerPublicKey().y, y: aServerPublicKey().x },
};

describe('an access that the bank has restored', () => {
  it('brings new parameters, all of which every replica takes over and none of which is left of before, and a replica that starts later as well', async () => {
    const cluster = new Cluster({ replicas: 3, latencyMs: 10 });
    cluster.gateway.answerNext({ refreshToken: '44444444-0000-4000-8000-000000000000' });
    await cluster.clock.advance(MINUTE);
    const before = cluster.session();
    expect(before.refreshToken).toBeDefined();
    cluster.gateway.answerAlways({ kind: 'revoked', detail: 'revoked', msgCode: 'b_auth_token_expired' });
    await cluster.clock.advance(20 * MINUTE);
    expect(cluster.first.replica.failureOf('shop')).toMatchObject({
      kind: 'revoked',
      msgCode: 'b_auth_token_expired',
    });
    cluster.gateway.answerAlways(restored);
    await cluster.clock.advance(6 * MINUTE);
    cluster.addReplica();
    await cluster.clock.advance(5_000);
    for (const replica of [0, 1, 2, 3]) {
      expect(cluster.session(replica)).toMatchObject(restored);
      expect(cluster.session(replica)).not.toHaveProperty('refreshToken');
      expect(cluster.session(replica).generation).toBeGreaterThan(before.generation);
    }
    const adopted = cluster.replicas.flatMap(({ events }) => events.of('session_adopted').slice(-1));
    expect(adopted.slice(0, 3).map(({ serverKeyChanged }) => serverKeyChanged)).toEqual([true, true, true]);
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

const manyCalls = { budget: [{ calls: 1_000, perMs: 24 * HOUR }] };
/** Makes pauses grow to an hour. */
const dayOfSixty = { budget: [{ calls: 60, perMs: 24 * HOUR }] };
const away = { kind: 'transient', detail: 'nothing listens there', wasReached: false } as const;
const broken = { kind: 'transient', detail: 'HTTP 502' } as const;

describe('a gateway that nobody could connect to', () => {
  it('is asked within a minute of its return, although one call has failed since it could be reached', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 0, settings: manyCalls });
    cluster.gateway.answerAlways(away);
    await cluster.clock.advance(10 * MINUTE);
    expect(cluster.gateway.calls.length).toBeGreaterThan(100);
    cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(5 * SECOND);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(MINUTE);
    for (const served of cluster.served()) expect(served).toBeDefined();
  });
});

describe('a gateway that answers again', () => {
  /** How long readers, or consumers that report the dead session, wait for a session after an outage. */
  async function waitAfter(outageMs: number, isReported: boolean): Promise<number> {
    const cluster = new Cluster({ replicas: 3, latencyMs: 10, random: () => 0.99 });
    if (!isReported) cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(SECOND);
    const generation = cluster.served()[0]?.session.generation ?? 0;
    const isBack = (): boolean => cluster.served().every((served) => (served?.session.generation ?? 0) > generation);
    const { wishes } = cluster.first.replica;
    const wish = { merchant: 'shop', waitMs: SECOND, signal: neverAborted };
    const once = async (): Promise<void> => {
      const asked: Promise<unknown> = isReported
        ? wishes.reject({ ...wish, generation })
        : wishes.read({ ...wish, minRemainingMs: 0, waitsThroughFailure: false });
      await Promise.all([asked.catch(() => undefined), cluster.clock.advance(SECOND)]);
    };
    cluster.gateway.answerAlways(broken);
    for (let passedMs = 0; passedMs < outageMs; passedMs += SECOND) await once();
    cluster.gateway.answerAlways(undefined);
    const endedMs = cluster.clock.monotonicMs();
    while (!isBack()) await once();
    return cluster.clock.monotonicMs() - endedMs;
  }

  it.each([
    ['readers with nothing', false],
    ['consumers that report the session dead', true],
  ])('after two minutes is asked within some ten seconds where there are %s', async (_who, isReported) => {
    expect(await waitAfter(2 * MINUTE, isReported)).toBeLessThanOrEqual(12 * SECOND);
  });
});

describe('a session that is good in a long outage', () => {
  it('is tried for on its schedule, once more while it can still be replaced in time, and when it ends, and then as seldom as the outage asks for', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 0, settings: dayOfSixty });
    await cluster.clock.advance(SECOND);
    const wallAheadMs = cluster.clock.now() - cluster.clock.monotonicMs();
    cluster.gateway.answerAlways(broken);
    for (let wish = 0; wish < 30; wish += 1) {
      const asked = cluster.first.replica.wishes.renew({ merchant: 'shop', waitMs: 0, signal: neverAborted });
      await Promise.all([asked.catch(() => undefined), cluster.clock.advance(SECOND)]);
    }
    const { renewAt, mustRenewAt, expiresAt } = cluster.session();
    await cluster.clock.advance(2 * HOUR);
    const [renewal, last] = [renewAt, mustRenewAt - 2 * someSettings().gatewayTimeoutMs];
    const moments = cluster.gateway.calls.map(({ atMs }) => atMs + wallAheadMs);
    const from = moments.findIndex((moment) => moment >= renewal - 2);
    expect(moments[from]).toBeLessThanOrEqual(renewal + 2);
    const since = moments.slice(from + 1);
    expect(since.some((moment) => moment <= last)).toBe(true);
    const atTheEnd = since.findIndex((moment) => moment >= expiresAt - 2);
    expect(since[atTheEnd]).toBeLessThanOrEqual(expiresAt + 10 * SECOND);
    expect(since[atTheEnd + 1]).toBeGreaterThan(expiresAt + 5 * MINUTE);
    expect(moments.length - from).toBeLessThanOrEqual(9);
  });
});

describe('a merchant whose session has ended in a long outage', () => {
  it('has one within the pause that its budget asks for', async () => {
    const settings = {
      budget: [
        { calls: 60, perMs: 10 * MINUTE },
        { calls: 200, perMs: 24 * HOUR },
      ],
    };
    const cluster = new Cluster({ replicas: 2, latencyMs: 0, lifetimeMs: HOUR, settings });
    await cluster.clock.advance(SECOND);
    cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(cluster.session().renewAt - cluster.clock.now() + 40 * MINUTE);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(12 * MINUTE);
    expect(cluster.served()).not.toContain(undefined);
  });
});
