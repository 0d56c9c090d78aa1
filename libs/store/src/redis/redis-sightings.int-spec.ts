import {
  describeSightingsContract,
  describeWith,
  endedAfterAll,
  RedisProcess,
  type SightingsUnderTest,
  startRedisCluster,
} from '#libs/testing';
import { Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.js';
import { openedByTests } from './redis-store-fixture.js';

const { open, started, closeAfterTest } = openedByTests();
const NAME = 'Gq9cKJ2nb2kO3l6dXw0yqQ';
const DAY_MS = 86_400_000;

let prefixes = 0;

async function underTest(connection: RedisConnection): Promise<SightingsUnderTest> {
  const keyPrefix = `sightings-${(prefixes += 1)}`;
  const [first, second] = [await open({ connection, keyPrefix }), await open({ connection, keyPrefix })];
  return {
    replicas: [first.store, second.store],
    advance: (durationMs) => new Promise((resolve) => setTimeout(resolve, durationMs)),
    dispose: () => Promise.resolve(),
  };
}

const single = ({ address }: RedisProcess): RedisConnection => ({ kind: 'single', address, database: 0 });

describeWith('redis-server', 'on a single server', () => {
  let redis: RedisProcess;
  const started = endedAfterAll();
  beforeAll(async () => {
    redis = started.add(await RedisProcess.start(), (it) => it.stop());
  });

  describeSightingsContract('RedisSessionStore', () => underTest(single(redis)));

  it('a sighting is one key of the merchant that holds nothing and ends by itself', async () => {
    const { store } = await open({ connection: single(redis), keyPrefix: 'looked-at' });
    await store.firstSeen({ merchant: 'shop', names: [NAME], forMs: DAY_MS });
    const plain = new Redis(redis.port, '127.0.0.1', { disableClientInfo: true });
    closeAfterTest(() => plain.disconnect());
    const key = `looked-at:{0}:seen:shop:${NAME}`;
    expect(await plain.keys('looked-at:*seen*')).toEqual([key]);
    expect(await plain.get(key)).toBe('');
    expect(await plain.pttl(key)).toBeGreaterThan(DAY_MS - 60_000);
    expect(await plain.pttl(key)).toBeLessThanOrEqual(DAY_MS);
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
  const started = endedAfterAll();
  beforeAll(async () => {
    cluster = started.add(await startRedisCluster(), (it) => it.stop());
  });

  describeSightingsContract('RedisSessionStore', () =>
    underTest({ kind: 'cluster', nodes: cluster.nodes.map(({ address }) => address) }),
  );
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
