import {
  describeSessionStoreContract,
  describeSightingsContract,
  describeWith,
  endedAfterAll,
  PATIENT_REDIS,
  RedisProcess,
  type SightingsUnderTest,
  startRedisCluster,
  type StoreUnderTest,
} from '#libs/testing';
import type { RedisConnection } from './redis-connection.js';
import { KeysInRedis } from './redis-keys-fixture.js';
import { openedByTests } from './redis-store-fixture.js';

const NAME = 'Gq9cKJ2nb2kO3l6dXw0yqQ';
const DAY_MS = 86_400_000;

const { open, started, closeAfterTest } = openedByTests(PATIENT_REDIS);

interface Address {
  readonly host: string;
  readonly port: number;
}

let tests = 0;

/** Each test has its own prefix, so it begins with an empty store. */
async function underTest(
  connection: RedisConnection,
  nodes: readonly Address[],
): Promise<StoreUnderTest & SightingsUnderTest> {
  const keyPrefix = `test-${(tests += 1)}`;
  const choices = { connection, keyPrefix, onListenerError: () => undefined };
  const replicas = await Promise.all([open(choices), open(choices)]);
  const keys = nodes.map(({ port }) => new KeysInRedis(port, keyPrefix));
  closeAfterTest(() => keys.forEach((each) => each.close()));
  const move = async (byMs: number): Promise<void> => {
    for (const each of keys) await each.moveMoments(byMs);
  };
  return {
    replicas: [replicas[0].store, replicas[1].store],
    tick: () => new Promise((resolve) => setTimeout(resolve, 5)),
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
  const onIt = (): Promise<StoreUnderTest & SightingsUnderTest> => underTest(single(redis), [redis.address]);

  describeSessionStoreContract('RedisSessionStore', onIt);
  describeSightingsContract('RedisSessionStore', onIt);

  it('a sighting is one key of the merchant that holds nothing and ends by itself', async () => {
    const keyPrefix = 'looked-at';
    const { store } = await open({ connection: single(redis), keyPrefix });
    const { client, close } = new KeysInRedis(redis.port, keyPrefix);
    closeAfterTest(close);
    await store.firstSeen({ merchant: 'shop', names: [NAME], forMs: DAY_MS });
    const key = `looked-at:{0}:seen:shop:${NAME}`;
    expect(await client.keys('looked-at:*seen*')).toEqual([key]);
    expect(await client.get(key)).toBe('');
    const leftMs = await client.pttl(key);
    expect(leftMs > DAY_MS - 600_000 && leftMs <= DAY_MS).toBe(true);
  });

  it('a user that may not note sightings keeps everything else that the store does', async () => {
    redis.cli('acl', 'setuser', 'broker', 'reset', 'on', '>canary', '~broker:*', '&broker:*', '+@all', '-set');
    const credentials = { username: 'broker', password: 'canary' };
    const { store, said } = await open({ connection: { ...single(redis), credentials } });
    const refused = store.firstSeen({ merchant: 'shop', names: [NAME], forMs: DAY_MS });
    await expect(refused).rejects.toMatchObject({ code: 'store_refused', detail: 'sight: NOPERM' });
    await store.enrol(['shop']);
    expect(said()).toEqual(['answers']);
  });
});

describeWith('redis-server', 'on a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  const startedOnce = endedAfterAll();
  beforeAll(async () => {
    cluster = startedOnce.add(await startRedisCluster(), (it) => it.stop());
  });
  const onIt = (): Promise<StoreUnderTest & SightingsUnderTest> => {
    const nodes = cluster.nodes.map(({ address }) => address);
    return underTest({ kind: 'cluster', nodes }, nodes);
  };

  describeSessionStoreContract('RedisSessionStore', onIt);
  describeSightingsContract('RedisSessionStore', onIt);
});

describeWith('redis-server', 'a server that is gone', () => {
  it('is silent about sightings, and no caller waits for it', async () => {
    const redis = await started(RedisProcess.start());
    const { store } = await open({ connection: single(redis) });
    await redis.stop();
    const asked = store.firstSeen({ merchant: 'shop', names: [NAME], forMs: DAY_MS });
    await expect(asked).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
