import {
  describeSessionStoreContract,
  describeWith,
  endedAfterAll,
  PATIENT_REDIS,
  RedisProcess,
  startRedisCluster,
  type StoreUnderTest,
} from '#libs/testing';
import type { RedisConnection } from './redis-connection.js';
import { KeysInRedis } from './redis-keys-fixture.js';
import { openedByTests } from './redis-store-fixture.js';

const { open, closeAfterTest } = openedByTests(PATIENT_REDIS);

interface Address {
  readonly host: string;
  readonly port: number;
}

let tests = 0;

/** Each test has its own prefix, so it begins with an empty store. */
async function underTest(connection: RedisConnection, nodes: readonly Address[]): Promise<StoreUnderTest> {
  const keyPrefix = `test-${(tests += 1)}`;
  const choices = { connection, keyPrefix };
  const replicas = await Promise.all([open(choices), open(choices)]);
  const keys = nodes.map(({ port }) => new KeysInRedis(port, keyPrefix));
  closeAfterTest(() => keys.forEach((each) => each.close()));
  const move = async (byMs: number): Promise<void> => {
    for (const each of keys) await each.moveMoments(byMs);
  };
  return {
    replicas: [replicas[0].store, replicas[1].store],
    advance: (durationMs) => move(-durationMs),
    // What a clock that was set back finds: every stored moment is that much further ahead.
    setBack: move,
    dispose: () => Promise.resolve(),
  };
}

const single = ({ address }: RedisProcess): RedisConnection => ({ kind: 'single', address, database: 0 });

describeWith('redis-server', 'on a single server', () => {
  let redis: RedisProcess;
  const startedOnce = endedAfterAll();
  beforeAll(async () => {
    redis = startedOnce.add(await RedisProcess.start(), (it) => it.stop());
  });
  const onIt = (): Promise<StoreUnderTest> => underTest(single(redis), [redis.address]);

  describeSessionStoreContract('RedisSessionStore', onIt);
});

describeWith('redis-server', 'on a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  const startedOnce = endedAfterAll();
  beforeAll(async () => {
    cluster = startedOnce.add(await startRedisCluster(), (it) => it.stop());
  });
  const onIt = (): Promise<StoreUnderTest> => {
    const nodes = cluster.nodes.map(({ address }) => address);
    return underTest({ kind: 'cluster', nodes }, nodes);
  };

  describeSessionStoreContract('RedisSessionStore', onIt);
});
