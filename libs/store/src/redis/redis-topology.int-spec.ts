import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { BrokerError } from '#libs/errors';
import type { Lease } from '#libs/session';
import {
  aClaim,
  aPublication,
  aSession,
  describeWith,
  encryptedRedis,
  endedAfterAll,
  eventually,
  lease,
  nextOf,
  PATIENT_CALL_MS,
  PATIENT_REDIS,
  publishOnce,
  RedisProcess,
  startRedisCluster,
  startRedisSentinel,
  TestAuthority,
} from '#libs/testing';
import { Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.js';
import { KeysInRedis } from './redis-keys-fixture.js';
import { PROBE_MERCHANT } from './redis-layout.js';
import { IMPATIENT, openedByTests, type OpenedStore } from './redis-store-fixture.js';
import { operationScripts, probeScript } from './scripts/probe.lua.js';

const PASSWORD = 'canary-password';
const startedOnce = endedAfterAll();
const { open: openWith, started, closeAfterTest } = openedByTests(PATIENT_REDIS);

const open = (connection: RedisConnection, keyPrefix = 'broker'): Promise<OpenedStore> =>
  openWith({ connection, keyPrefix });

/** Everything that the store does, once, between two replicas. */
async function expectToWork(connection: RedisConnection): Promise<void> {
  const [{ store, said }, { store: other }] = [await open(connection), await open(connection)];
  expect(said()).toEqual(['answers']);
  await store.read([{ merchant: 'shop', known: 0 }]);
  expect((await other.due(1)).merchants).toEqual(['shop']);
  const heard = nextOf(other, 'shop');
  const leased = await lease(store);
  const session = aSession({ generation: leased.fence });
  expect(await store.publish(aPublication(session), leased)).toBe('published');
  expect(await heard).toMatchObject({ kind: 'changed', generation: leased.fence });
  expect((await other.read([{ merchant: 'shop', known: 0 }])).states[0]?.stored).toMatchObject({
    kind: 'session',
    session,
  });
  expect(await other.release(leased, { called: true, nextDueInMs: 0 })).toBe(false);
}

const killListeners = (redis: RedisProcess): void => void redis.cli('client', 'kill', 'type', 'pubsub');

describeWith('redis-server', 'Sentinel', () => {
  it('tells of a gap once a lost announcement connection is back, finds the primary, and after a failover the new one', async () => {
    const { name, primary, replica, sentinels } = await started(startRedisSentinel(PATIENT_CALL_MS));
    const connection: RedisConnection = {
      kind: 'sentinel',
      sentinels: sentinels.map(({ address }) => address),
      name,
    };
    await expectToWork(connection);
    const { store, changes, isUp, heard } = await open(connection);
    killListeners(primary);
    await eventually(() => heard.length > 0);
    expect(heard).toEqual([{ kind: 'gap' }]);
    await eventually(isUp);
    const [before, changesBefore] = [await lease(store), changes.length];
    await primary.kill();
    await eventually(() => changes.length > changesBefore);
    expect(changes[changesBefore]?.state).toBe('silent');
    await sentinels[0]?.untilSays('OK', 'sentinel', 'failover', name);
    await replica.untilSays('role:master', 'info', 'replication');
    await eventually(isUp);
    // Sentinels end the connections of the server that they promote, sometimes once more after a new one was made.
    let after: Lease | undefined;
    await eventually(async () => {
      after = await lease(store, { floor: before.fence }).catch((error: unknown) => {
        if (!(error instanceof BrokerError && error.code === 'store_unavailable')) throw error;
        return undefined;
      });
      return after !== undefined;
    });
    expect(after?.fence).toBeGreaterThanOrEqual(before.fence);
  });
});

describeWith('redis-server', 'Cluster', () => {
  let nodes: readonly RedisProcess[];
  let connection: RedisConnection;

  beforeAll(async () => {
    ({ nodes } = startedOnce.add(await startRedisCluster(), (it) => it.stop()));
    connection = { kind: 'cluster', nodes: nodes.map(({ address }) => address) };
    // Without this, a cluster with missing slots refuses everything.
    for (const node of nodes) node.cli('config', 'set', 'cluster-require-full-coverage', 'no');
  });

  it('works, and tells of a gap once a lost announcement connection is back', async () => {
    await expectToWork(connection);
    const { heard } = await open(connection, 'gap');
    for (let lost = 1; lost <= 3; lost += 1) {
      for (const node of nodes) killListeners(node);
      await eventually(() => heard.length >= lost);
    }
    expect(new Set(heard.map(({ kind }) => kind))).toEqual(new Set(['gap']));
  });

  it('hears announcements again when the node it listened on has been frozen', async () => {
    const patient = await open(connection, 'frozen');
    const { changes, heard, becomes } = await openWith({ connection, keyPrefix: 'frozen', timeouts: IMPATIENT });
    for (const node of nodes) {
      await becomes('answers');
      const changesBefore = changes.length;
      node.freeze();
      await eventually(() => changes.length > changesBefore);
      node.thaw();
      await becomes('answers');
      // The store answers before its subscription is there again, and what is said meanwhile is lost: the next one is not.
      const heardBefore = heard.length;
      await eventually(async () => {
        await publishOnce(patient.store).catch(() => undefined);
        return heard.slice(heardBefore).some(({ kind }) => kind === 'changed');
      });
    }
  });

  it('goes on for the merchants of the other nodes when one is lost, and is down until it is back', async () => {
    const { store, isUp } = await open(connection, 'lost');
    const wanted = Array.from({ length: 48 }, (_, index) => ({ merchant: `merchant-${index}`, known: 0 }));
    await store.read(wanted);
    await nodes[2]?.kill();
    await eventually(() => !isUp());
    const outcomes = await Promise.allSettled(wanted.map((one) => store.read([one])));
    const failed = outcomes.filter(({ status }) => status === 'rejected').length;
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(wanted.length);
    await nodes[2]?.start();
    await eventually(isUp);
    await store.read(wanted);
  });
});

describeWith('redis-server', 'one server', () => {
  let redis: RedisProcess;
  let connection: Extract<RedisConnection, { kind: 'single' }>;
  let asUser: typeof connection;
  /** A connection in addition to the store's, opened before it. */
  let operator: Redis;

  beforeAll(async () => {
    redis = startedOnce.add(await RedisProcess.start({ args: () => ['--databases', '4'] }), (it) => it.stop());
    connection = { kind: 'single', address: redis.address, database: 0 };
    asUser = { ...connection, credentials: { username: 'broker', password: PASSWORD } };
  });
  beforeEach(async () => {
    redis.cli('flushall');
    operator = new Redis(redis.port, '127.0.0.1', { disableClientInfo: true });
    closeAfterTest(() => operator.disconnect());
    await operator.ping();
  });

  /** The line that operators copy: if it lacks rights, this fails. */
  function documentedRights(): readonly string[] {
    const guide = readFileSync(new URL('../../../../docs/redis.md', import.meta.url), 'utf8');
    const rights = /^ACL SETUSER session-broker on >password (.*)$/m.exec(guide)?.[1];
    if (rights === undefined) throw new Error('docs/redis.md must show the ACL user');
    return rights.replaceAll('session-broker:', 'broker:').split(' ');
  }

  function setUser(rights = documentedRights()): void {
    redis.cli('acl', 'setuser', 'broker', 'reset', 'on', `>${PASSWORD}`, ...rights);
  }

  it('works for a user that may do no more than the documented commands, on its own keys and channel', async () => {
    setUser();
    await expectToWork(asUser);
  });

  it('refuses with the reason while the password is wrong, and the password is in no message', async () => {
    setUser();
    const { store, said } = await open({
      ...connection,
      credentials: { username: 'broker', password: 'canary-wrong' },
    });
    expect(said()).toEqual(['refuses: WRONGPASS']);
    const refusal = await store.due(1).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'store_refused', detail: 'due: WRONGPASS' });
    expect(inspect([refusal, said()], { depth: Infinity, showHidden: true })).not.toContain('canary');
  });

  /** Only some connections need `SELECT` and `PING`, and the client library can do without `INFO` and `HELLO`. */
  const spared = new Set(['+hello', '+auth', '+select', '+ping', '+info', '+eval']);

  it.each(documentedRights().filter((right) => right.startsWith('+') && !spared.has(right)))(
    'refuses a user that lacks one right, and says so: %s',
    async (right) => {
      setUser(documentedRights().filter((granted) => granted !== right));
      const { said, becomes } = await open(asUser);
      expect(said()).toEqual(['refuses: NOPERM']);
      setUser();
      await becomes('answers');
      expect(said()).toEqual(['refuses: NOPERM', 'answers']);
    },
  );

  it('refuses with the reason where it has no database 4', async () => {
    const { store, said } = await open({ ...connection, database: 4 });
    expect(said()).toEqual(['refuses: no database of that number']);
    const refusal = await store.due(1).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'store_refused', detail: 'due: no database of that number' });
    await store.claim(aClaim()).catch((error: unknown) => error);
    expect(redis.cli('info', 'keyspace')).not.toContain('db');
  });

  it('is written nothing to another database while the user may not choose one', async () => {
    setUser([...documentedRights(), '-select']);
    const { store, said, becomes } = await open({ ...asUser, database: 1 });
    expect(said()).toEqual(['refuses: NOPERM']);
    await store.claim(aClaim()).catch((error: unknown) => error);
    redis.cli('acl', 'setuser', 'broker', '+select');
    await becomes('answers');
    await store.claim(aClaim());
    expect(redis.cli('info', 'keyspace')).toContain('db1:');
    expect(redis.cli('info', 'keyspace')).not.toContain('db0:');
  });

  it('refuses with the reason while it has as many clients as it may have', async () => {
    await operator.config('SET', 'maxclients', 1);
    const { store, said, becomes } = await open(connection);
    expect(said()).toEqual(['refuses: MAXCLIENTS']);
    await expect(store.claim(aClaim())).rejects.toMatchObject({ code: 'store_refused', detail: 'claim: MAXCLIENTS' });
    await operator.config('SET', 'maxclients', 100);
    await becomes('answers');
    expect(said()).toEqual(['refuses: MAXCLIENTS', 'answers']);
  });

  it('tells of a gap once a lost announcement connection is back', async () => {
    const { heard } = await open(connection);
    expect(heard).toEqual([]);
    for (const gaps of [1, 2]) {
      killListeners(redis);
      await eventually(() => heard.length === gaps);
    }
    expect(heard).toEqual([{ kind: 'gap' }, { kind: 'gap' }]);
  });

  it('shows two brokers nothing of each other when their key prefixes differ', async () => {
    const [one, two] = [await open(connection, 'one'), await open(connection, 'two')];
    await publishOnce(one.store);
    expect((await two.store.read([{ merchant: 'shop', known: 0 }])).states).toEqual([
      { merchant: 'shop', stored: { kind: 'absent' }, dueInMs: 0 },
    ]);
    const heard = nextOf(two.store, 'shop');
    const generation = await publishOnce(two.store);
    await heard;
    expect(two.heard).toEqual([{ kind: 'changed', merchant: 'shop', generation }]);
  });

  describe('when it is probed', () => {
    let keys: KeysInRedis;
    beforeEach(() => {
      keys = new KeysInRedis(redis.port, 'broker');
      closeAfterTest(keys.close);
    });

    it('is sent every command that an operation can send', async () => {
      await operator.config('RESETSTAT');
      await open(connection);
      const stats = await operator.info('commandstats');
      const sent = new Set([...stats.matchAll(/^cmdstat_(\w+):/gm)].map(([, name]) => name?.toUpperCase()));
      const commandsOf = (lua: string): string[] =>
        [...lua.matchAll(/redis\.call\('([A-Z]+)'/g)].map(([, name]) => name ?? '');
      const needed = new Set(operationScripts.flatMap(({ lua }) => commandsOf(lua)));
      expect([...needed].filter((command) => !sent.has(command))).toEqual([]);
    });

    it('is left as it was, with the due moments of others', async () => {
      const dueAtMs = Date.now();
      await operator.zadd(keys.due, dueAtMs, 'shop');
      const { said } = await open(connection);
      expect(said()).toEqual(['answers']);
      expect(await operator.keys('*')).toEqual([keys.due]);
      expect(await operator.zrange(keys.due, '0', '-1', 'WITHSCORES')).toEqual(['shop', String(dueAtMs)]);
    });

    it('announces once, and nothing that any replica takes for news', async () => {
      const messages: string[] = [];
      const listener = operator.duplicate();
      closeAfterTest(() => listener.disconnect());
      listener.on('message', (_channel: string, message: string) => messages.push(message));
      await listener.subscribe('broker:announcements');
      const { heard, store } = await open(connection);
      await eventually(() => messages.length > 0);
      // No later probe comes between.
      await store.close();
      await operator.publish('broker:announcements', 'the last');
      await eventually(() => messages.includes('the last'));
      expect(new Set(messages)).toEqual(new Set(['{}', 'the last']));
      expect(heard).toEqual([]);
    });

    it('needs more than an answer: one that no operation gives is a refusal, until it is gone', async () => {
      const held = { fence: '4', owner: 'somebody', lease: `${Date.now()} 7200000` };
      await operator.hset(keys.hashOf(PROBE_MERCHANT), held);
      const { said, becomes } = await open(connection);
      await becomes('answers');
      expect(said()).toEqual(['refuses: UNEXPECTED', 'answers']);
      expect(await operator.keys('*')).toEqual([]);
    });

    it('runs one script, of those of all operations, each of which it runs', () => {
      const ownPart = probeScript.lua.slice(probeScript.lua.indexOf('local answers'));
      for (const { name, body } of operationScripts) {
        expect(probeScript.lua).toContain(body);
        expect(ownPart).toContain(`${name}({ `);
      }
    });
  });
});

describeWith('redis-server', 'TLS', () => {
  const authority = new TestAuthority();

  it('works with a private authority, and is refused where the server cannot prove itself', async () => {
    const redis = await started(encryptedRedis(authority));
    const connection = { kind: 'single', address: redis.address, database: 0 } as const;
    await expectToWork({ ...connection, tls: { ca: authority.cert } });
    const untrusted = {
      'another authority': { ca: new TestAuthority().cert },
      'another name': { ca: authority.cert, servername: 'store.example' },
      'no authority of ours': {},
    };
    for (const [what, tls] of Object.entries(untrusted)) {
      const { said } = await open({ ...connection, tls });
      expect([what, ...said()]).toEqual([
        what,
        expect.stringMatching(
          /^refuses: (ERR_TLS_CERT_ALTNAME_INVALID|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE|SELF_SIGNED.*)$/,
        ),
      ]);
    }
  });

  it.each([
    ['TLSv1.3', /^refuses: Redis asks for a certificate of the broker$/],
    ['TLSv1.2', /^refuses: Redis refuses the TLS handshake$/],
  ])('says that the server asks for a certificate of ours, and works with one: %s', async (version, said) => {
    const redis = await started(
      encryptedRedis(authority, { args: ['--tls-auth-clients', 'yes', '--tls-protocols', version] }),
    );
    const connection = { kind: 'single', address: redis.address, database: 0 } as const;
    const without = await open({ ...connection, tls: { ca: authority.cert } });
    await without.becomes('refuses');
    expect(without.said().at(-1)).toMatch(said);
    const { cert, key } = authority.issue({ names: ['session-broker'] });
    await expectToWork({ ...connection, tls: { ca: authority.cert, cert, key } });
  });
});
