import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { SystemClock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import {
  aClaim,
  aPublication,
  aSession,
  describeWith,
  eventually,
  expectUnavailable,
  freePort,
  lease,
  nextOf,
  PATIENT_REDIS,
  publishOnce,
  RedisProcess,
  TcpProxy,
} from '#libs/testing';
import { jest } from '@jest/globals';
import type { RedisTimeouts } from './connection-profile.js';
import { RedisInspection } from './redis-inspection.js';
import type { RedisAddress, RedisConnection } from './redis-connection.js';
import { IMPATIENT, openedByTests, type OpenedStore } from './redis-store-fixture.js';

const { open, started, closeAfterTest } = openedByTests(PATIENT_REDIS);

const startRedis = (): Promise<RedisProcess> => started(RedisProcess.start());
const openReplica = (address: RedisAddress, timeouts: Partial<RedisTimeouts> = {}): Promise<OpenedStore> =>
  open({ connection: { kind: 'single', address, database: 0 }, timeouts });

async function failureOf(work: Promise<unknown>): Promise<BrokerError> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof BrokerError) return failure;
  throw new Error('it has not failed as a store does', { cause: failure });
}

/** Why a store is silent may become known later than the fact that it is. */
const statesOf = (changes: OpenedStore['changes']): readonly string[] =>
  changes.map(({ state }) => state).filter((state, index, states) => state !== states[index - 1]);

const evaluated = (redis: RedisProcess, what: 'calls' | 'failed_calls'): number =>
  Number(new RegExp(`cmdstat_evalsha:.*\\b${what}=(\\d+)`).exec(redis.cli('info', 'commandstats'))?.[1] ?? 0);

describeWith('redis-server', 'when Redis is killed and comes back empty', () => {
  it('fails at once, reports one change each way, and takes and announces the publication of a lease it forgot', async () => {
    const redis = await startRedis();
    const { store, changes, becomes } = await openReplica(redis.address);
    const [leased, other] = [await lease(store), await lease(store, { merchant: 'other' })];
    await redis.kill();
    await becomes('silent');
    await expectUnavailable(store);
    await redis.start();
    await becomes('answers');
    expect(statesOf(changes)).toEqual(['answers', 'silent', 'answers']);
    expect(changes.at(-1)?.detail).toMatch(/^the store answers again, after \d+ ms$/);
    expect((await lease(store, { merchant: 'other' })).fence).toBeGreaterThan(other.fence);
    const heard = nextOf(store, 'shop');
    expect(await store.publish(aPublication(aSession({ generation: leased.fence })), leased)).toBe('published');
    expect(await heard).toEqual({ kind: 'changed', merchant: 'shop', generation: leased.fence });
  });
});

describeWith('redis-server', 'when Redis is not there at the start', () => {
  it('opens all the same, says so once, and is up as soon as Redis is', async () => {
    const redis = await startRedis();
    await redis.kill();
    const { store, changes, becomes } = await openReplica(redis.address);
    await expectUnavailable(store);
    expect(changes).toEqual([{ state: 'silent', detail: 'ECONNREFUSED' }]);
    await redis.start();
    await becomes('answers');
    expect(await store.due(1)).toEqual({ merchants: [] });
  });

  it('opens even when nothing ever answers', async () => {
    const blackHole = await TcpProxy.to(await freePort());
    closeAfterTest(() => blackHole.close());
    blackHole.passage = 'cut';
    const { said } = await openReplica(blackHole.address, IMPATIENT);
    expect(said()).toEqual([expect.stringMatching(/^silent: /)]);
  });
});

describeWith('redis-server', 'when Redis is frozen', () => {
  it('notices it by itself, ends every operation, and goes on after the thaw', async () => {
    const redis = await startRedis();
    const patient = await openReplica(redis.address);
    const { store, becomes } = await openReplica(redis.address, IMPATIENT);
    await becomes('answers');
    redis.freeze();
    await becomes('silent');
    for (const _ of [1, 2, 3]) await expectUnavailable(store);
    redis.thaw();
    await becomes('answers');
    // A claim that timed out was run after the thaw: a repeated claim by the same owner gets that same lease.
    const leased = await lease(patient.store);
    expect(await patient.store.release(leased, { called: false, nextDueInMs: 0 })).toBe(true);
  });
});

describeWith('redis-server', 'when the network is cut', () => {
  let redis: RedisProcess;
  let proxy: TcpProxy;
  /** Of another replica, which the network is not cut for. */
  let patient: OpenedStore['store'];

  beforeEach(async () => {
    redis = await startRedis();
    proxy = await TcpProxy.to(redis.port);
    closeAfterTest(() => proxy.close());
    ({ store: patient } = await openReplica(redis.address));
  });

  it('gives the half-open connections up and heals over new ones', async () => {
    const { store, heard, becomes } = await openReplica(proxy.address, IMPATIENT);
    proxy.passage = 'cut';
    await expectUnavailable(store);
    const before = proxy.connections;
    await eventually(() => proxy.connections > before + 1);
    await expectUnavailable(store);
    proxy.passage = 'open';
    await becomes('answers');
    await eventually(async () => {
      await publishOnce(patient);
      return heard.some((announcement) => announcement.kind === 'changed');
    });
  });

  it('never resends a claim whose reply was lost, and finds the lease it was granted by asking again', async () => {
    const { store, becomes } = await openReplica(proxy.address, IMPATIENT);
    const before = await publishOnce(patient);
    const fence = (): number => Number(redis.cli('hget', 'broker:{0}:merchant:shop', 'fence'));
    proxy.passage = 'requests-only';
    await eventually(async () => {
      await expect(lease(store)).rejects.toMatchObject({ code: 'store_unavailable' });
      return fence() > before;
    });
    proxy.reset();
    proxy.passage = 'open';
    await becomes('answers');
    const leased = await lease(patient, { floor: before });
    expect([leased.fence, redis.cli('zcard', 'broker:{0}:calls:shop').trim()]).toEqual([fence(), '2']);
  });

  it('has few batches on their way at a time, so that none is given up while it waits for the others', async () => {
    const { store } = await openReplica(proxy.address);
    const everyone = Array.from({ length: 10_000 }, (_, index) => ({ merchant: `merchant-${index}`, known: 0 }));
    await store.read(everyone.slice(0, 1));
    // Its probes count, too.
    await patient.close();
    const before = evaluated(redis, 'calls');
    proxy.passage = 'requests-only';
    const lost = expect(store.read(everyone)).rejects.toMatchObject({ code: 'store_unavailable' });
    let [seen, calls] = [before, before];
    await eventually(() => {
      [seen, calls] = [calls, evaluated(redis, 'calls')];
      return calls >= before + 4 && calls === seen;
    });
    // A probe may have come besides.
    expect(calls).toBeLessThan(before + 50);
    await store.close();
    await lost;
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
    const { store, changes, becomes } = await openReplica(redis.address);
    redis.cli('replicaof', '127.0.0.1', String(primary.port));
    const failedBefore = evaluated(redis, 'failed_calls');
    // The connection is re-established after each refusal: a request in between finds none.
    await eventually(async () => {
      const failure = await failureOf(store.claim(aClaim()));
      expect(failure.detail).toMatch(/^claim: (READONLY|LOADING|MASTERDOWN|not connected)$/);
      return failure.code === 'store_refused';
    });
    await eventually(() => changes.length > 1 && evaluated(redis, 'failed_calls') >= failedBefore + 3);
    expect(statesOf(changes)).toEqual(['answers', 'refuses']);
    redis.cli('replicaof', 'no', 'one');
    await becomes('answers');
    await store.claim(aClaim());
  });
});

describeWith('redis-server', 'closing', () => {
  it('leaves no connection behind', async () => {
    const redis = await startRedis();
    const replicas = await Promise.all([1, 2, 3].map(() => openReplica(redis.address)));
    const clients = (): number => redis.cli('client', 'list').trim().split('\n').length;
    expect(clients()).toBe(7);
    await Promise.all(replicas.map(({ store }) => store.close()));
    await eventually(() => clients() === 1);
  });
});

/** What Redis 8 in protected mode sends to clients from another machine before it closes the connection. */
const DENIED =
  '-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the ' +
  'default user. In this mode connections are only accepted from the loopback interface.\r\n';

describe('a server in protected mode', () => {
  const said: unknown[] = [];
  beforeEach(() => {
    said.length = 0;
    for (const level of ['warn', 'error'] as const)
      jest.spyOn(console, level).mockImplementation((...words: unknown[]) => void said.push(words));
  });
  afterEach(() => jest.restoreAllMocks());

  it('refuses, the store and whoever inspects it say why, and nothing is written past the log', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).end(DENIED));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closeAfterTest(() => server.close());
    const { port } = server.address() as AddressInfo;
    const connection: RedisConnection = { kind: 'single', address: { host: '127.0.0.1', port }, database: 0 };
    const opened = await open({ connection });
    await opened.becomes('refuses');
    expect(opened.said().at(-1)).toBe('refuses: DENIED');
    await expect(opened.store.claim(aClaim())).rejects.toMatchObject({ code: 'store_refused' });
    const inspecting = RedisInspection.open({ connection, keyPrefix: 'broker', clock: new SystemClock() });
    await expect(inspecting).rejects.toThrow(/DENIED/);
    expect(said).toEqual([]);
  });
});
