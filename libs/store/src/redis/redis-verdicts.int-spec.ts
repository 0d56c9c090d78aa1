import { SystemClock } from '#libs/clock';
import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import type { Announcement } from '#libs/session';
import { eventually, RedisProcess, startRedisCluster, startRedisSentinel } from '#libs/testing';
import { readFileSync } from 'node:fs';
import type { RedisConnection } from './redis-connection.js';
import { RedisSessionStore } from './redis-session-store.js';

const PASSWORD = 'canary-password';

let key: ClientKey;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  key = await importClientKey((await generateClientKey()).privateJwk);
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function started<Fixture extends { stop: () => Promise<void> }>(starting: Promise<Fixture>): Promise<Fixture> {
  const fixture = await starting;
  closers.push(() => fixture.stop());
  return fixture;
}

interface Opened {
  readonly store: RedisSessionStore;
  readonly changes: string[];
  readonly heard: Announcement[];
}

async function open(connection: RedisConnection): Promise<Opened> {
  const [changes, heard]: [string[], Announcement[]] = [[], []];
  const store = await RedisSessionStore.open({
    connection,
    keyPrefix: 'broker',
    keysOf: () => [key],
    clock: new SystemClock(),
    onStateChange: (state, detail) => changes.push(state === 'answers' ? state : `${state}: ${detail}`),
  });
  closers.push(() => store.close());
  store.onAnnouncement((announcement) => heard.push(announcement));
  return { store, changes, heard };
}

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
      const { changes } = await open(asUser(redis));
      expect(changes).toEqual(['refuses: NOPERM']);
      setUser(redis, documentedRights());
      await eventually(() => changes.length > 1);
      expect(changes).toEqual(['refuses: NOPERM', 'answers']);
    },
  );
});

describe('an announcement connection that was lost', () => {
  const killListeners = (redis: RedisProcess): void => void redis.cli('client', 'kill', 'type', 'pubsub');

  it('tells of a gap once it is back', async () => {
    const redis = await started(RedisProcess.start());
    const { heard } = await open(single(redis));
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
    const { heard } = await open({ kind: 'sentinel', sentinels: addresses, name, database: 0 });
    killListeners(primary);
    await eventually(() => heard.length > 0);
    expect(heard).toEqual([{ kind: 'gap' }]);
  }, 60_000);

  it('tells of a gap once it is back, in a cluster, and soon', async () => {
    const { nodes } = await started(startRedisCluster());
    const { heard } = await open({ kind: 'cluster', nodes: nodes.map(({ address }) => address) });
    for (let lost = 1; lost <= 3; lost += 1) {
      const killedAtMs = performance.now();
      for (const node of nodes) killListeners(node);
      await eventually(() => heard.length >= lost);
      expect(performance.now() - killedAtMs).toBeLessThan(1_500);
    }
    expect(new Set(heard.map(({ kind }) => kind))).toEqual(new Set(['gap']));
  }, 60_000);
});
