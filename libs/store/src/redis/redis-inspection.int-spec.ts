import { SystemClock } from '#libs/clock';
import {
  describeWith,
  encryptedRedis,
  PATIENT_CALL_MS,
  PATIENT_REDIS,
  RedisProcess,
  startRedisCluster,
  startRedisSentinel,
  TestAuthority,
} from '#libs/testing';
import type { RedisConnection } from './redis-connection.js';
import { openedByTests } from './redis-store-fixture.js';
import { grantingLine, RedisInspection, StoreInspectionFailure } from './redis-inspection.js';

const PASSWORD = 'canary-password-of-the-store';
const rightsIn = (line: string): string[] => line.split(' ').filter((word) => word.startsWith('+'));
const clock = new SystemClock();
const { started, closeAfterTest } = openedByTests(PATIENT_REDIS);
async function inspect(connection: RedisConnection): Promise<RedisInspection> {
  const inspection = await RedisInspection.open({ connection, keyPrefix: 'broker', clock, timeouts: PATIENT_REDIS });
  closeAfterTest(() => inspection.close());
  return inspection;
}

const single = ({ address }: RedisProcess): RedisConnection => ({ kind: 'single', address, database: 0 });
const GRANTED = rightsIn(
  grantingLine({ kind: 'single', address: { host: 'redis', port: 6379 }, database: 0 }, 'broker'),
);
const asUser = (redis: RedisProcess): RedisConnection => ({
  ...single(redis),
  credentials: { username: 'broker', password: PASSWORD },
});

/** A user with the right to these commands, on these keys and channels. */
function setUser(
  redis: RedisProcess,
  commands: readonly string[],
  patterns: readonly string[] = ['~broker:*', '&broker:*'],
): void {
  redis.cli('ACL', 'SETUSER', 'broker', 'reset', 'on', `>${PASSWORD}`, ...patterns, '-@all', ...commands);
}

async function failureOf(opening: Promise<unknown>): Promise<StoreInspectionFailure> {
  const error: unknown = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StoreInspectionFailure)) throw new Error('the inspection did not fail as one');
  return error;
}

describeWith('redis-server', 'the facts about a server', () => {
  it('are its version, role, eviction policy and clock', async () => {
    const redis = await started(RedisProcess.start({ args: () => ['--maxmemory-policy', 'allkeys-lru'] }));
    const [facts] = await (await inspect(single(redis))).servers();
    expect(facts).toMatchObject({ role: 'master', evictionPolicy: 'allkeys-lru' });
    expect(Number(facts?.version?.split('.')[0])).toBeGreaterThanOrEqual(7);
    expect(Math.abs(facts?.clock?.leastMs ?? NaN)).toBeLessThan(600_000);
  });

  it('are left out where the user may not ask for them', async () => {
    const redis = await started(RedisProcess.start());
    setUser(redis, ['+hello', '+auth']);
    const [facts] = await (await inspect(asUser(redis))).servers();
    expect(facts).toEqual({ address: `127.0.0.1:${redis.port}` });
  });

  it('include the end of the certificate that it shows', async () => {
    const authority = new TestAuthority();
    const redis = await started(encryptedRedis(authority));
    const [facts] = await (await inspect({ ...single(redis), tls: { ca: authority.cert } })).servers();
    expect(new Date(facts?.certificateEndsAt ?? 0).getUTCFullYear()).toBe(2049);
  });
});

describeWith('redis-server', 'a store that cannot be looked at', () => {
  it('is refused when its certificate is of another authority, or has expired', async () => {
    const authority = new TestAuthority();
    const redis = await started(encryptedRedis(authority));
    const other = { ...single(redis), tls: { ca: new TestAuthority('Another').cert } };
    expect((await failureOf(inspect(other))).code).toBe('store_refused');
    const expired = await started(encryptedRedis(authority, { notAfter: new Date('2021-01-01T00:00:00Z') }));
    const failure = await failureOf(inspect({ ...single(expired), tls: { ca: authority.cert } }));
    expect({ code: failure.code, detail: failure.detail }).toEqual({
      code: 'store_refused',
      detail: expect.stringContaining('CERT_HAS_EXPIRED'),
    });
  });
});

describeWith('redis-server', 'what the broker does', () => {
  it('is refused to nobody with the line that grants it, and to who lacks a command, the keys or the channel of it', async () => {
    const redis = await started(RedisProcess.start());
    const refusalOf = async (): Promise<unknown> => (await inspect(asUser(redis))).refusal();
    setUser(redis, GRANTED);
    expect(await refusalOf()).toBeUndefined();
    const noRight = { kind: 'refuses', reason: 'NOPERM' };
    for (const lacking of ['+pexpire', '+publish', '+subscribe']) {
      setUser(
        redis,
        GRANTED.filter((right) => right !== lacking),
      );
      expect([lacking, await refusalOf()]).toEqual([lacking, noRight]);
    }
    setUser(redis, GRANTED, ['~broker:{0}:merchant:*', '~broker:{0}:calls:*', '&broker:*']);
    expect(await refusalOf()).toEqual(noRight);
    setUser(redis, GRANTED, ['~broker:*', '&other:*']);
    expect(await refusalOf()).toEqual(noRight);
  });
});

describeWith('redis-server', 'the servers', () => {
  it('behind sentinels are the primary that one of them names; its replica refuses what the broker does', async () => {
    const { sentinels, primary, replica, name } = await started(startRedisSentinel(PATIENT_CALL_MS));
    const dead = { host: '127.0.0.1', port: 1 };
    const addresses = [dead, ...sentinels.map(({ address }) => address)];
    const inspection = await inspect({ kind: 'sentinel', sentinels: addresses, name });
    const address = `127.0.0.1:${primary.port}`;
    expect(await inspection.servers()).toEqual([expect.objectContaining({ address, role: 'master' })]);
    expect(await inspection.refusal()).toBeUndefined();
    expect(await (await inspect(single(replica))).refusal()).toEqual({ kind: 'refuses', reason: 'READONLY' });
    const failure = await failureOf(inspect({ kind: 'sentinel', sentinels: addresses.slice(1), name: 'wrong' }));
    expect(failure.detail).toMatch(/^wrong of the sentinels 127.*: no sentinel names a primary$/);
  });

  it('of a cluster are its primaries, and what the broker does is done in each', async () => {
    const { nodes } = await started(startRedisCluster());
    const connection: RedisConnection = { kind: 'cluster', nodes: nodes.slice(0, 1).map(({ address }) => address) };
    const inspection = await inspect(connection);
    expect(await inspection.servers()).toHaveLength(3);
    expect(await inspection.refusal()).toBeUndefined();
    const onCluster = rightsIn(grantingLine(connection, 'broker'));
    for (const node of nodes) setUser(node, onCluster);
    const user = { ...connection, credentials: { username: 'broker', password: PASSWORD } };
    expect(await (await inspect(user)).refusal()).toBeUndefined();
    const [, , last] = nodes;
    if (last === undefined) throw new Error('a cluster has three nodes');
    setUser(
      last,
      onCluster.filter((right) => right !== '+zadd'),
    );
    expect(await (await inspect(user)).refusal()).toEqual({ kind: 'refuses', reason: 'NOPERM' });
    last.cli('cluster', 'delslots', '16383');
    await last.untilSays('cluster_state:fail', 'cluster', 'info');
    expect(await (await inspect(connection)).refusal()).toEqual({ kind: 'refuses', reason: 'CLUSTERDOWN' });
  });
});
