import { SystemClock } from '#libs/clock';
import { generateClientKey, importClientKey } from '#libs/jwe';
import { describeSessionStoreContract, RedisProcess, startRedisCluster, type StoreUnderTest } from '#libs/testing';
import type { RedisConnection } from './redis-connection.js';
import { RedisSessionStore } from './redis-session-store.js';

const key = await importClientKey((await generateClientKey()).privateJwk);

let tests = 0;

/** Each test has a prefix of its own, so it begins with nothing. */
async function underTest(connection: RedisConnection): Promise<StoreUnderTest> {
  tests += 1;
  const open = (): Promise<RedisSessionStore> =>
    RedisSessionStore.open({
      connection,
      keyPrefix: `test-${tests}`,
      keysOf: () => [key],
      clock: new SystemClock(),
      onStateChange: () => undefined,
      onListenerError: () => undefined,
      // The machine that runs the tests may be busy: what is tested here is not how soon a command is given up.
      timeouts: { commandMs: 5_000 },
    });
  const replicas = await Promise.all([open(), open()]);
  return {
    replicas,
    advance: (durationMs) => new Promise((resolve) => setTimeout(resolve, durationMs)),
    dispose: async () => {
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}

describe('on a single server', () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = await RedisProcess.start();
  }, 60_000);
  afterAll(() => redis.stop());

  describeSessionStoreContract('RedisSessionStore', () =>
    underTest({ kind: 'single', address: redis.address, database: 0 }),
  );
});

describe('on a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  }, 60_000);
  afterAll(() => cluster.stop());

  describeSessionStoreContract('RedisSessionStore', () =>
    underTest({ kind: 'cluster', nodes: cluster.nodes.map(({ address }) => address) }),
  );
});
