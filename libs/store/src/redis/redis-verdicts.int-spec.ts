import { eventually, RedisProcess, startRedisCluster, startRedisSentinel } from '#libs/testing';
import { readFileSync } from 'node:fs';
import type { RedisConnection } from './redis-connection.js';
import { openedByTests } from './redis-store-fixture.js';

const PASSWORD = 'canary-password';

const { open, started } = openedByTests();

const single = ({ address }: RedisProcess): RedisConnection => ({ kind: 'single', address, database: 0 });
const asUser = (redis: RedisProcess): RedisConnection => ({
  ...single(redis),
  credentials: { username: 'broker', password: PASSWORD },
});

/** The line that operators copy. */
function documentedRights(): readonly string[] {
  const guide = readFileSync(new URL('../../../../docs/redis.md', import.meta.url), 'utf8');
  const rights = /^ACL SETUSER broker on >password (.*)$/m.exec(guide)?.[1];
  if (rights === undefined) throw new Error('docs/redis.md must show the ACL user');
  return rights.split(' ');
}

function setUser(redis: RedisProcess, rights: readonly string[]): void {
  redis.cli('acl', 'setuser', 'broker', 'reset', 'on', `>${PASSWORD}`, ...rights);
}

/** `SELECT` and `PING` only some connections need, and `INFO` and `HELLO` the client library does without. */
const spared = new Set(['+hello', '+auth', '+select', '+ping', '+info', '+eval']);

describe('a user that lacks one right', () => {
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

describe('an announcement connection that was lost', () => {
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
  }, 60_000);

  it('tells of a gap once it is back, in a cluster, and soon', async () => {
    const { nodes } = await started(startRedisCluster());
    const { heard } = await open({ connection: { kind: 'cluster', nodes: nodes.map(({ address }) => address) } });
    for (let lost = 1; lost <= 3; lost += 1) {
      const killedAtMs = performance.now();
      for (const node of nodes) killListeners(node);
      await eventually(() => heard.length >= lost);
      expect(performance.now() - killedAtMs).toBeLessThan(1_500);
    }
    expect(new Set(heard.map(({ kind }) => kind))).toEqual(new Set(['gap']));
  }, 60_000);
});
