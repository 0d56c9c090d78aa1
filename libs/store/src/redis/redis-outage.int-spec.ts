import { inspect } from 'node:util';
import { BrokerError } from '#libs/errors';
import type { Lease, SessionStore } from '#libs/session';
import {
  aClaim,
  anOffer,
  aPublication,
  aSession,
  describeWith,
  eventually,
  freePort,
  lease,
  nextOf,
  RedisProcess,
  TcpProxy,
} from '#libs/testing';
import type { RedisTimeouts } from './connection-profile.js';
import type { RedisAddress } from './redis-connection.js';
import { openedByTests, type OpenedStore, SHORT_TIMEOUTS } from './redis-store-fixture.js';

/** One operation: the command's own timeout, a second command if the script was unknown, and a busy machine. */
const OPERATION_WITHIN_MS = 20_000;
const HEALED_WITHIN_MS = 20_000;
const NOTICED_WITHIN_MS = 30_000;

const { open, started, closeAfterTest } = openedByTests();

interface Replica extends OpenedStore {
  /** Resolves at the next report that the store answers, or at once if the last report said so. */
  readonly up: () => Promise<void>;
  readonly silent: () => Promise<void>;
  readonly refuses: () => Promise<void>;
}

const startRedis = (): Promise<RedisProcess> => started(RedisProcess.start());

async function openReplica(address: RedisAddress, timeouts: Partial<RedisTimeouts> = SHORT_TIMEOUTS): Promise<Replica> {
  const opened = await open({ connection: { kind: 'single', address, database: 0 }, timeouts });
  return {
    ...opened,
    up: () => opened.becomes('answers'),
    silent: () => opened.becomes('silent'),
    refuses: () => opened.becomes('refuses'),
  };
}

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function failureOf(work: Promise<unknown>): Promise<BrokerError> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof BrokerError) return failure;
  throw new Error('it has not failed as a store does', { cause: failure });
}

/** All operations at once, none of which may hang or succeed. */
async function expectUnavailable(store: SessionStore): Promise<void> {
  const leased: Lease = { merchant: 'shop', owner: 'replica-1', fence: 7, remainingMs: 1, failures: 0 };
  const work = async (): Promise<void> => {
    const outcomes = await Promise.allSettled([
      store.enrol(['shop']),
      store.due(1),
      store.claim(aClaim()),
      store.publish({ ...leased, fence: 8 }, aPublication(aSession({ generation: 8 }))),
      store.offer(anOffer()),
      store.seat('replica-1'),
      store.release(leased, { called: true, nextDueInMs: 0 }),
      store.read([{ merchant: 'shop', known: 0 }]),
    ]);
    const unavailable = { status: 'rejected', reason: expect.objectContaining({ code: 'store_unavailable' }) };
    expect(outcomes).toEqual(outcomes.map(() => unavailable));
    expect(inspect(outcomes, { depth: Infinity, showHidden: true })).not.toContain(aSession().authToken);
  };
  expect(await elapsedMs(work)).toBeLessThan(OPERATION_WITHIN_MS);
}

/** Why a store is silent may become known later than the fact that it is. */
const statesOf = (changes: OpenedStore['changes']): readonly string[] =>
  changes.map(({ state }) => state).filter((state, index, states) => state !== states[index - 1]);

const failedCalls = (redis: RedisProcess): number =>
  Number(/cmdstat_evalsha:.*failed_calls=(\d+)/.exec(redis.cli('info', 'commandstats'))?.[1] ?? 0);

describeWith('redis-server', 'when Redis is killed and comes back empty', () => {
  it('fails at once, reports one change each way, heals by itself, and generations still only grow', async () => {
    const redis = await startRedis();
    const { store, changes, up, silent } = await openReplica(redis.address);
    const before = await lease(store);
    await redis.kill();
    await silent();
    await expectUnavailable(store);
    await expectUnavailable(store);
    await redis.start();
    expect(await elapsedMs(up)).toBeLessThan(HEALED_WITHIN_MS);
    expect(statesOf(changes)).toEqual(['answers', 'silent', 'answers']);
    expect(changes.at(-1)?.detail).toMatch(/^the store answers again, after \d+ ms$/);
    expect((await lease(store)).fence).toBeGreaterThan(before.fence);
  });

  it('takes the publication of a lease that the store no longer knows, and announces it', async () => {
    const redis = await startRedis();
    const { store, up, silent } = await openReplica(redis.address);
    const leased = await lease(store);
    await redis.kill();
    await silent();
    await redis.start();
    await up();
    const heard = nextOf(store, 'shop');
    expect(await store.publish(leased, aPublication(aSession({ generation: leased.fence })))).toBe('published');
    expect(await heard).toEqual({ kind: 'changed', merchant: 'shop', generation: leased.fence });
  });
});

describeWith('redis-server', 'when Redis is not there at the start', () => {
  it('opens all the same, says so once, and is up as soon as Redis is', async () => {
    const redis = await startRedis();
    await redis.kill();
    const { store, changes, up } = await openReplica(redis.address);
    await expectUnavailable(store);
    expect(changes).toEqual([{ state: 'silent', detail: 'ECONNREFUSED' }]);
    await redis.start();
    await up();
    expect(await store.due(1)).toEqual({ merchants: [] });
  });

  it('opens in time even when nothing ever answers', async () => {
    const blackHole = await TcpProxy.to(await freePort());
    closeAfterTest(() => blackHole.close());
    blackHole.passage = 'cut';
    expect(await elapsedMs(() => openReplica(blackHole.address))).toBeLessThan(OPERATION_WITHIN_MS);
  });
});

describeWith('redis-server', 'when Redis is frozen', () => {
  it('ends every operation in time, reports one change each way, and goes on after the thaw', async () => {
    const redis = await startRedis();
    const { store, changes, up } = await openReplica(redis.address);
    redis.freeze();
    await expectUnavailable(store);
    await expectUnavailable(store);
    await expectUnavailable(store);
    expect(changes.at(-1)).toMatchObject({ state: 'silent' });
    redis.thaw();
    expect(await elapsedMs(up)).toBeLessThan(HEALED_WITHIN_MS);
    expect(statesOf(changes)).toEqual(['answers', 'silent', 'answers']);
    // The claim that timed out was applied after the thaw: a repeated claim by the same owner gets that same lease.
    const leased = await lease(store);
    expect(await store.release(leased, { called: false, nextDueInMs: 0 })).toBe(true);
  });

  it('notices it by itself, without anybody asking', async () => {
    const redis = await startRedis();
    const { silent } = await openReplica(redis.address);
    redis.freeze();
    expect(await elapsedMs(silent)).toBeLessThan(NOTICED_WITHIN_MS);
    redis.thaw();
  });

  it('says that nothing listens any more where it is killed after all', async () => {
    const redis = await startRedis();
    const { changes, silent } = await openReplica(redis.address);
    redis.freeze();
    await silent();
    expect(changes.at(-1)?.detail).not.toBe('ECONNREFUSED');
    await redis.kill();
    await eventually(() => changes.at(-1)?.detail === 'ECONNREFUSED');
    expect(statesOf(changes)).not.toContain('refuses');
  });
});

describeWith('redis-server', 'when the network is cut', () => {
  async function throughProxy(): Promise<{ redis: RedisProcess; proxy: TcpProxy; replica: Replica }> {
    const redis = await startRedis();
    const proxy = await TcpProxy.to(redis.port);
    closeAfterTest(() => proxy.close());
    return { redis, proxy, replica: await openReplica(proxy.address) };
  }

  it('gives the half-open connections up and heals over new ones', async () => {
    const { proxy, replica } = await throughProxy();
    proxy.passage = 'cut';
    await expectUnavailable(replica.store);
    await eventually(() => proxy.connections > 4);
    await expectUnavailable(replica.store);
    proxy.passage = 'open';
    expect(await elapsedMs(replica.up)).toBeLessThan(HEALED_WITHIN_MS);
    const heard = nextOf(replica.store, 'shop');
    const leased = await lease(replica.store);
    await replica.store.publish(leased, aPublication(aSession({ generation: leased.fence })));
    expect(await heard).toMatchObject({ generation: leased.fence });
  });

  it('never resends a claim whose reply was lost, and finds the lease it was granted by asking again', async () => {
    const { redis, proxy, replica } = await throughProxy();
    const warmUp = await lease(replica.store);
    await replica.store.release(warmUp, { called: true, nextDueInMs: 0 });
    proxy.passage = 'requests-only';
    await expect(lease(replica.store)).rejects.toMatchObject({ code: 'store_unavailable' });
    await replica.silent();
    proxy.reset();
    proxy.passage = 'open';
    await replica.up();
    const leased = await lease(replica.store, { floor: warmUp.fence });
    expect(leased.fence).toBeGreaterThan(warmUp.fence);
    expect(redis.cli('hget', 'broker:{0}:merchant:shop', 'fence').trim()).toBe(String(leased.fence));
    expect(redis.cli('zcard', 'broker:{0}:calls:shop').trim()).toBe('2');
  });
});

describeWith('redis-server', 'when Redis refuses', () => {
  it('runs on after SCRIPT FLUSH', async () => {
    const redis = await startRedis();
    const { store, changes } = await openReplica(redis.address);
    const first = await lease(store);
    redis.cli('script', 'flush');
    expect((await lease(store)).fence).toBe(first.fence);
    expect(changes).toHaveLength(1);
  });

  it('says why while the server it is connected to is a replica, and answers once a primary is there again', async () => {
    const [primary, redis] = [await startRedis(), await startRedis()];
    const { store, changes, up } = await openReplica(redis.address, {});
    redis.cli('replicaof', '127.0.0.1', String(primary.port));
    const failedBefore = failedCalls(redis);
    // The connection is re-established after each refusal: a request in between finds none.
    await eventually(async () => {
      const failure = await failureOf(store.enrol(['shop']));
      expect(failure.detail).toMatch(/^enrol: (READONLY|LOADING|MASTERDOWN|not connected)$/);
      return failure.code === 'store_refused';
    });
    await eventually(() => changes.length > 1 && failedCalls(redis) >= failedBefore + 3);
    expect(changes).toMatchObject([{ state: 'answers' }, { state: 'refuses' }]);
    redis.cli('replicaof', 'no', 'one');
    expect(await elapsedMs(up)).toBeLessThan(HEALED_WITHIN_MS);
    await store.enrol(['shop']);
  });

  it('says why while the server is out of memory, although it still reads', async () => {
    const redis = await startRedis();
    const { store, changes, up, refuses } = await openReplica(redis.address);
    redis.cli('config', 'set', 'maxmemory', '1');
    const failedBefore = failedCalls(redis);
    await expect(store.enrol(['shop'])).rejects.toMatchObject({ code: 'store_refused', detail: 'enrol: OOM' });
    await refuses();
    await eventually(() => changes.length > 1 && failedCalls(redis) >= failedBefore + 3);
    expect(changes.map(({ state }) => state)).toEqual(['answers', 'refuses']);
    redis.cli('config', 'set', 'maxmemory', '0');
    await up();
  });
});

describeWith('redis-server', 'with very many merchants', () => {
  it('keeps within the time of one command, since batches wait their turn', async () => {
    const redis = await startRedis();
    const merchants = Array.from({ length: 40_000 }, (_, index) => `merchant-${index}`);
    const everyone = merchants.map((merchant) => ({ merchant, known: 0 }));
    const patient = await openReplica(redis.address, { commandMs: 60_000 });
    await patient.store.enrol(merchants);
    // A part of the time that this machine now takes for all of them, however busy it is; one batch takes a fiftieth.
    const allMs = await elapsedMs(() => patient.store.read(everyone));
    const { store, changes } = await openReplica(redis.address, { commandMs: Math.ceil((allMs * 2) / 3) });
    const { states } = await store.read(everyone);
    expect(states).toHaveLength(merchants.length);
    expect(changes).toHaveLength(1);
  });
});

describeWith('redis-server', 'closing', () => {
  it('leaves no connection behind, whatever state the store is in', async () => {
    const redis = await startRedis();
    const replicas = await Promise.all([1, 2, 3].map(() => openReplica(redis.address)));
    const clients = (): number => redis.cli('client', 'list').trim().split('\n').length;
    expect(clients()).toBe(7);
    await Promise.all(replicas.map(({ store }) => store.close()));
    await eventually(() => clients() === 1);
  });
});
