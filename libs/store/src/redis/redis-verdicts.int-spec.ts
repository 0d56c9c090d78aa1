import { describeWith, eventually, RedisProcess, startRedisCluster, startRedisSentinel } from '#libs/testing';
import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import type { RedisConnection } from './redis-connection.js';
import { openedByTests } from './redis-store-fixture.js';

const PASSWORD = 'canary-password';

const { open, started, closeAfterTest } = openedByTests();

const single = ({ address }: RedisProcess): RedisConnection => ({ kind: 'single', address, database: 0 });
const asUser = (redis: RedisProcess): RedisConnection => ({
  ...single(redis),
  credentials: { username: 'broker', password: PASSWORD },
});

/** The line that operators copy. */
function documentedRights(): readonly string[] {
  const guide = readFileSync(new URL('../../../../docs/redis.md', import.meta.url), 'utf8');
  const rights = /^ACL SETUSER session-broker on >password (.*)$/m.exec(guide)?.[1];
  if (rights === undefined) throw new Error('docs/redis.md must show the ACL user');
  return rights.replaceAll('session-broker:', 'broker:').split(' ');
}

function setUser(redis: RedisProcess, rights: readonly string[]): void {
  redis.cli('acl', 'setuser', 'broker', 'reset', 'on', `>${PASSWORD}`, ...rights);
}

/**
 * Only some connections need `SELECT` and `PING`, and the client library can do without `INFO` and `HELLO`. `SET`
 * records what was seen: sessions do not depend on it.
 */
const spared = new Set(['+set', '+hello', '+auth', '+select', '+ping', '+info', '+eval']);

describeWith('redis-server', 'a user that lacks one right', () => {
  it.each(documentedRights().filter((right) => right.startsWith('+') && !spared.has(right)))(
    'is refused, and the store says so: %s',
    async (right) => {
      const redis = await started(RedisProcess.start());
      setUser(
        redis,
        documentedRights().filter((granted) => granted !== right),
      );
      const { said } = await open({ connection: asUser(redis) });
      expect(said()).toEqual(['refuses: NOPERM']);
      setUser(redis, documentedRights());
      await eventually(() => said().length > 1);
      expect(said()).toEqual(['refuses: NOPERM', 'answers']);
    },
  );
});

describeWith('redis-server', 'a server that is there and takes no commands', () => {
  /** A connection in addition to the store's, opened before it. */
  async function operator(redis: RedisProcess): Promise<Redis> {
    const client = new Redis(redis.port, '127.0.0.1', { disableClientInfo: true });
    closeAfterTest(() => client.disconnect());
    await client.ping();
    return client;
  }

  it('refuses with the reason while it has as many clients as it may have', async () => {
    const redis = await started(RedisProcess.start());
    const client = await operator(redis);
    await client.config('SET', 'maxclients', 1);
    const { store, said } = await open({ connection: single(redis) });
    expect(said()).toEqual(['refuses: MAXCLIENTS']);
    await expect(store.enrol(['shop'])).rejects.toMatchObject({ code: 'store_refused', detail: 'enrol: MAXCLIENTS' });
    await client.config('SET', 'maxclients', 100);
    await eventually(() => said().length > 1);
    expect(said()).toEqual(['refuses: MAXCLIENTS', 'answers']);
  });

  it('refuses with the reason while somebody else’s script does not end', async () => {
    const redis = await started(RedisProcess.start({ args: () => ['--busy-reply-threshold', '20'] }));
    const [client, killer] = [await operator(redis), await operator(redis)];
    const { store, said, becomes } = await open({ connection: single(redis) });
    const endless = client.eval('while true do end', 0);
    const ended = expect(endless).rejects.toThrow(/killed by user/);
    await becomes('refuses');
    await expect(store.enrol(['shop'])).rejects.toMatchObject({ code: 'store_refused', detail: 'enrol: BUSY' });
    await killer.script('KILL');
    await ended;
    await becomes('answers');
    expect(said()).toEqual(['answers', 'refuses: BUSY', 'answers']);
  });

  it('refuses with the reason while it reads its data back', async () => {
    const args = (): string[] => [
      ...['--enable-debug-command', 'yes', '--rdbcompression', 'no'],
      ...['--loading-process-events-interval-bytes', '1024'],
    ];
    const redis = await started(RedisProcess.start({ args }));
    const [client, hastener] = [await operator(redis), await operator(redis)];
    for (let index = 0; index < 300; index += 1) await client.set(`key-${index}`, 'x'.repeat(100));
    const { store, said, becomes } = await open({ connection: single(redis) });
    await client.config('SET', 'key-load-delay', 50_000);
    const reloaded = client.call('DEBUG', 'RELOAD');
    const isRefused = (): Promise<boolean> =>
      store.enrol(['shop']).then(
        () => false,
        () => true,
      );
    await eventually(isRefused);
    await expect(store.enrol(['shop'])).rejects.toMatchObject({ code: 'store_refused', detail: 'enrol: LOADING' });
    await becomes('refuses');
    await hastener.config('SET', 'key-load-delay', 0);
    await reloaded;
    await becomes('answers');
    expect(said()).toEqual(['answers', 'refuses: LOADING', 'answers']);
  });
});

describeWith('redis-server', 'an announcement connection that was lost', () => {
  const killListeners = (redis: RedisProcess): void => void redis.cli('client', 'kill', 'type', 'pubsub');

  it('tells of a gap once it is back', async () => {
    const redis = await started(RedisProcess.start());
    const { heard } = await open({ connection: single(redis) });
    expect(heard).toEqual([]);
    killListeners(redis);
    await eventually(() => heard.length > 0);
    killListeners(redis);
    await eventually(() => heard.length > 1);
    expect(heard).toEqual([{ kind: 'gap' }, { kind: 'gap' }]);
  });

  it('tells of a gap once it is back, by Sentinel', async () => {
    const { name, primary, sentinels } = await started(startRedisSentinel());
    const addresses = sentinels.map(({ address }) => address);
    const { heard } = await open({ connection: { kind: 'sentinel', sentinels: addresses, name, database: 0 } });
    killListeners(primary);
    await eventually(() => heard.length > 0);
    expect(heard).toEqual([{ kind: 'gap' }]);
  });

  it('tells of a gap once it is back, in a cluster, and soon', async () => {
    const { nodes } = await started(startRedisCluster());
    const { heard } = await open({ connection: { kind: 'cluster', nodes: nodes.map(({ address }) => address) } });
    for (let lost = 1; lost <= 3; lost += 1) {
      const killedAtMs = performance.now();
      for (const node of nodes) killListeners(node);
      await eventually(() => heard.length >= lost);
      expect(performance.now() - killedAtMs).toBeLessThan(10_000);
    }
    expect(new Set(heard.map(({ kind }) => kind))).toEqual(new Set(['gap']));
  });
});
