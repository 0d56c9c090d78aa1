import { SystemClock } from '#libs/clock';
import { generateClientKey, importClientKey } from '#libs/jwe';
import {
  describeSessionStoreContract,
  describeWith,
  endedAfterAll,
  RedisProcess,
  startRedisCluster,
  type StoreUnderTest,
} from '#libs/testing';
import { Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.js';
import { RedisSessionStore } from './redis-session-store.js';
import { PATIENT_TIMEOUTS } from './redis-store-fixture.js';

const key = await importClientKey((await generateClientKey()).privateJwk);

let tests = 0;

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Fields of a merchant's hash that are moments. */
const MOMENTS = ['leaseEndsAt', 'publishedAt', 'cooledDownAt', 'dueAt'];

/** What a clock that was set back finds: every stored moment is that much further ahead. */
async function keptAhead({ host, port }: Address, prefix: string, byMs: number): Promise<void> {
  const plain = new Redis(port, host);
  for (const key of await plain.keys(`${prefix}:*`)) {
    const expiresInMs = await plain.pttl(key);
    if (expiresInMs > 0) await plain.pexpire(key, expiresInMs + byMs);
    const kind = await plain.type(key);
    const moments = kind === 'hash' ? await plain.hkeys(key) : await plain.zrange(key, '0', '-1');
    for (const name of moments) {
      if (kind === 'zset') await plain.zincrby(key, byMs, name);
      else if (MOMENTS.includes(name)) await plain.hincrby(key, name, byMs);
    }
  }
  plain.disconnect();
}

/** Each test has its own prefix, so it begins with an empty store. */
async function underTest(connection: RedisConnection, nodes: readonly Address[]): Promise<StoreUnderTest> {
  tests += 1;
  const keyPrefix = `test-${tests}`;
  const open = (): Promise<RedisSessionStore> =>
    RedisSessionStore.open({
      connection,
      keyPrefix,
      keysOf: () => [key],
      clock: new SystemClock(),
      onStateChange: () => undefined,
      onListenerError: () => undefined,
      timeouts: PATIENT_TIMEOUTS,
    });
  const replicas = await Promise.all([open(), open()]);
  return {
    replicas,
    advance: (durationMs) => new Promise((resolve) => setTimeout(resolve, durationMs)),
    setBack: async (byMs) => {
      for (const node of nodes) await keptAhead(node, keyPrefix, byMs);
    },
    dispose: async () => {
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}

describeWith('redis-server', 'on a single server', () => {
  let redis: RedisProcess;
  const started = endedAfterAll();
  beforeAll(async () => {
    redis = started.add(await RedisProcess.start(), (it) => it.stop());
  });

  describeSessionStoreContract('RedisSessionStore', () =>
    underTest({ kind: 'single', address: redis.address, database: 0 }, [redis.address]),
  );
});

describeWith('redis-server', 'on a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  const started = endedAfterAll();
  beforeAll(async () => {
    cluster = started.add(await startRedisCluster(), (it) => it.stop());
  });

  describeSessionStoreContract('RedisSessionStore', () => {
    const nodes = cluster.nodes.map(({ address }) => address);
    return underTest({ kind: 'cluster', nodes }, nodes);
  });
});
