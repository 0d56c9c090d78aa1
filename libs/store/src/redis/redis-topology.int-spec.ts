import {
  aPublication,
  aSession,
  describeWith,
  eventually,
  lease,
  nextOf,
  RedisProcess,
  startRedisCluster,
  startRedisSentinel,
  TestAuthority,
} from '#libs/testing';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { BrokerError } from '#libs/errors';
import type { Lease } from '#libs/session';
import type { RedisConnection } from './redis-connection.js';
import { openedByTests, type OpenedStore, SHORT_TIMEOUTS } from './redis-store-fixture.js';

const { open: openWith, started } = openedByTests();

const open = (connection: RedisConnection, keyPrefix = 'broker'): Promise<OpenedStore> =>
  openWith({ connection, keyPrefix });

/** Everything that the store does, once, between two replicas. */
async function expectToWork(connection: RedisConnection): Promise<void> {
  const [{ store, said }, { store: other }] = [await open(connection), await open(connection)];
  expect(said()).toEqual(['answers']);
  await store.enrol(['shop']);
  expect((await other.due(1)).merchants).toEqual(['shop']);
  const heard = nextOf(other, 'shop');
  const leased = await lease(store);
  const session = aSession({ generation: leased.fence });
  expect(await store.publish(leased, aPublication(session))).toBe('published');
  expect(await heard).toMatchObject({ kind: 'changed', generation: leased.fence });
  expect((await other.read([{ merchant: 'shop', known: 0 }])).states[0]?.stored).toMatchObject({
    kind: 'session',
    session,
  });
  expect(await other.release(leased, { called: true, nextDueInMs: 0 })).toBe(false);
}

describeWith('redis-server', 'Sentinel', () => {
  it('finds the primary, and after a failover the new one, where generations go on growing', async () => {
    const { name, primary, replica, sentinels } = await started(startRedisSentinel());
    const connection: RedisConnection = {
      kind: 'sentinel',
      sentinels: sentinels.map(({ address }) => address),
      name,
      database: 0,
    };
    await expectToWork(connection);
    const { store, changes, isUp } = await open(connection);
    const before = await lease(store);
    await primary.kill();
    await eventually(() => changes.length > 1);
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
    const states = changes.map(({ state }) => state);
    const turns = states.filter((state, index) => state !== states[index - 1]);
    expect(turns.slice(0, 3)).toEqual(['answers', 'silent', 'answers']);
  });
});

describeWith('redis-server', 'Cluster', () => {
  it('goes on for the merchants of the other nodes when one is lost, and is down until it is back', async () => {
    const { nodes } = await started(startRedisCluster());
    const connection: RedisConnection = { kind: 'cluster', nodes: nodes.map(({ address }) => address) };
    await expectToWork(connection);
    // Without this, a cluster with missing slots refuses everything.
    for (const node of nodes) node.cli('config', 'set', 'cluster-require-full-coverage', 'no');
    const { store, isUp } = await open(connection);
    const merchants = Array.from({ length: 48 }, (_, index) => `merchant-${index}`);
    await store.enrol(merchants);
    await nodes[2]?.kill();
    await eventually(() => !isUp());
    const outcomes = await Promise.allSettled(merchants.map((merchant) => store.enrol([merchant])));
    const failed = outcomes.filter(({ status }) => status === 'rejected').length;
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(merchants.length);
    await nodes[2]?.start();
    await eventually(isUp);
    await store.enrol(merchants);
  });

  it('hears announcements again when the node it listened on has been frozen', async () => {
    const { nodes } = await started(startRedisCluster());
    const { store, changes, isUp } = await openWith({
      connection: { kind: 'cluster', nodes: nodes.map(({ address }) => address) },
      timeouts: SHORT_TIMEOUTS,
    });
    for (const node of nodes) {
      const changesBefore = changes.length;
      node.freeze();
      await eventually(() => changes.length > changesBefore);
      node.thaw();
      await eventually(isUp);
      // The store answers before its subscription is there again, and what is said meanwhile is lost: the next one is not.
      const heard: unknown[] = [];
      void nextOf(store, 'shop').then((announcement) => heard.push(announcement));
      await eventually(async () => {
        const leased = await lease(store);
        await store.publish(leased, aPublication(aSession({ generation: leased.fence })));
        return heard.length > 0;
      });
      expect(heard).toEqual([expect.objectContaining({ generation: expect.any(Number) })]);
    }
  });
});

describeWith('redis-server', 'access', () => {
  /** The line that operators copy: if it lacks rights, this fails. */
  function documentedRights(): string[] {
    const guide = readFileSync(new URL('../../../../docs/redis.md', import.meta.url), 'utf8');
    const rights = /^ACL SETUSER session-broker on >password (.*)$/m.exec(guide)?.[1];
    if (rights === undefined) throw new Error('docs/redis.md must show the ACL user');
    return rights.replaceAll('session-broker:', 'broker:').split(' ');
  }

  async function withUser(): Promise<RedisProcess> {
    const redis = await started(RedisProcess.start());
    redis.cli('acl', 'setuser', 'broker', 'on', '>canary-password', ...documentedRights());
    redis.cli('acl', 'setuser', 'default', 'off');
    return redis;
  }

  it('works for a user that may do no more than the documented commands, on its own keys and channel', async () => {
    const redis = await withUser();
    const credentials = { username: 'broker', password: 'canary-password' };
    await expectToWork({ kind: 'single', address: redis.address, database: 0, credentials });
  });

  it('refuses with the reason while the password is wrong, and the password is in no message', async () => {
    const redis = await withUser();
    const credentials = { username: 'broker', password: 'canary-wrong' };
    const { store, said } = await open({ kind: 'single', address: redis.address, database: 0, credentials });
    expect(said()).toEqual(['refuses: WRONGPASS']);
    const refusal = await store.due(1).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'store_refused', detail: 'due: WRONGPASS' });
    expect(inspect([refusal, said()], { depth: Infinity, showHidden: true })).not.toContain('canary');
  });

  it('refuses with the reason when the user may not use the key prefix', async () => {
    const redis = await withUser();
    const credentials = { username: 'broker', password: 'canary-password' };
    const { said } = await open({ kind: 'single', address: redis.address, database: 0, credentials }, 'other');
    expect(said()).toEqual(['refuses: NOPERM']);
  });

  it('refuses with the reason where the server has no database 4', async () => {
    const redis = await started(RedisProcess.start({ args: () => ['--databases', '4'] }));
    const { store, said } = await open({ kind: 'single', address: redis.address, database: 4 });
    expect(said()).toEqual(['refuses: no database 4']);
    const refusal = await store.due(1).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'store_refused', detail: 'due: no database 4' });
    await store.enrol(['shop']).catch((error: unknown) => error);
    expect(redis.cli('info', 'keyspace')).not.toContain('db');
  });

  it('writes nothing to another database while the user may not choose one', async () => {
    const redis = await started(RedisProcess.start());
    redis.cli('acl', 'setuser', 'broker', 'on', '>canary-password', ...documentedRights(), '-select');
    const credentials = { username: 'broker', password: 'canary-password' };
    const { store, said, isUp } = await open({ kind: 'single', address: redis.address, database: 1, credentials });
    expect(said()).toEqual(['refuses: NOPERM']);
    await store.enrol(['shop']).catch((error: unknown) => error);
    redis.cli('acl', 'setuser', 'broker', '+select');
    await eventually(isUp);
    await store.enrol(['shop']);
    expect(redis.cli('info', 'keyspace')).toContain('db1:');
    expect(redis.cli('info', 'keyspace')).not.toContain('db0:');
  });
});

describeWith('redis-server', 'TLS', () => {
  async function encrypted(authority: TestAuthority, ...more: readonly string[]): Promise<RedisProcess> {
    const { cert, key: privateKey } = authority.issue({ names: ['127.0.0.1', 'localhost'] });
    return started(
      RedisProcess.start({
        tlsOnly: true,
        args: ({ port, dir }) => {
          const files = { 'tls.crt': cert, 'tls.key': privateKey, 'ca.crt': authority.cert };
          for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
          return [
            ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
            ...['--tls-cert-file', join(dir, 'tls.crt'), '--tls-key-file', join(dir, 'tls.key')],
            ...['--tls-ca-cert-file', join(dir, 'ca.crt'), ...more],
          ];
        },
      }),
    );
  }

  it('works with a private authority', async () => {
    const authority = new TestAuthority();
    const redis = await encrypted(authority);
    await expectToWork({ kind: 'single', address: redis.address, database: 0, tls: { ca: authority.cert } });
  });

  it.each([
    ['TLSv1.3', /^refuses: Redis asks for a certificate of the broker$/],
    ['TLSv1.2', /^refuses: Redis refuses the TLS handshake$/],
  ])('says that the server asks for a certificate of ours, and works with one: %s', async (version, said) => {
    const authority = new TestAuthority();
    const redis = await encrypted(authority, '--tls-auth-clients', 'yes', '--tls-protocols', version);
    const connection = { kind: 'single', address: redis.address, database: 0 } as const;
    const without = await open({ ...connection, tls: { ca: authority.cert } });
    await without.becomes('refuses');
    expect(without.said().at(-1)).toMatch(said);
    const { cert, key } = authority.issue({ names: ['session-broker'] });
    await expectToWork({ ...connection, tls: { ca: authority.cert, cert, key } });
  });

  it.each<[string, (authority: TestAuthority) => object]>([
    ['another authority', () => ({ ca: new TestAuthority().cert })],
    ['another name', (authority) => ({ ca: authority.cert, servername: 'store.example' })],
    ['no authority of ours', () => ({})],
  ])('refuses a server when there is %s', async (_name, tlsFor) => {
    const authority = new TestAuthority();
    const redis = await encrypted(authority);
    const { said } = await open({ kind: 'single', address: redis.address, database: 0, tls: tlsFor(authority) });
    expect(said()).toHaveLength(1);
    expect(said()[0]).toMatch(
      /^refuses: (ERR_TLS_CERT_ALTNAME_INVALID|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE|SELF_SIGNED.*)$/,
    );
  });
});

describeWith('redis-server', 'two brokers on one server', () => {
  it('see nothing of each other when their key prefixes differ', async () => {
    const redis = await started(RedisProcess.start());
    const connection: RedisConnection = { kind: 'single', address: redis.address, database: 0 };
    const [{ store: one }, { store: two }] = [await open(connection, 'one'), await open(connection, 'two')];
    const heardByTwo: unknown[] = [];
    two.onAnnouncement((announcement) => heardByTwo.push(announcement));
    const leasedByOne = await lease(one);
    await one.publish(leasedByOne, aPublication(aSession({ generation: leasedByOne.fence })));
    expect((await two.read([{ merchant: 'shop', known: 0 }])).states).toEqual([
      { merchant: 'shop', stored: { kind: 'absent' } },
    ]);
    const heard = new Promise((resolve) => two.onAnnouncement(resolve));
    const leasedByTwo = await lease(two);
    await two.publish(leasedByTwo, aPublication(aSession({ generation: leasedByTwo.fence })));
    await heard;
    expect(heardByTwo).toEqual([{ kind: 'changed', merchant: 'shop', generation: leasedByTwo.fence }]);
  });
});
