import type { RedisConnection } from '#libs/store';
import { describeWith, endedAfterEach, eventually, RedisProcess, startRedisSentinel, TcpProxy } from '#libs/testing';
import { faultsOf } from './history-checker.js';
import { ReplicaGroup } from './replica-group.js';

/** How soon after the return of Redis every replica has to serve the same newest session. */
const HEALED_WITHIN_MS = 10_000;
/** A replica without its store cannot know better while the fault lasts. */
const bounds = { staleForMs: 15_000, mayOverlap: false };
const settings = { gatewayTimeoutMs: 500 } as const;

const to = (address: { host: string; port: number }): RedisConnection => ({ kind: 'single', address, database: 0 });

/** Whether every replica has noticed that its store does not answer. */
function allNotice(group: ReplicaGroup, since: readonly number[]): () => boolean {
  return () => group.members.every(({ events }, index) => events.of('store_failed').length > (since[index] ?? 0));
}

const failuresOf = (group: ReplicaGroup): number[] =>
  group.members.map(({ events }) => events.of('store_failed').length);

describeWith('redis-server', 'a Redis', () => {
  let redis: RedisProcess;
  let group: ReplicaGroup;

  const started = endedAfterEach();
  beforeEach(async () => {
    redis = started.add(await RedisProcess.start(), (it) => it.stop());
    group = started.add(
      await ReplicaGroup.start({ replicas: 3, lifetimeMs: 30_000, settings, redis: () => to(redis.address) }),
      (it) => it.close(),
    );
    await eventually(() => group.agrees());
    group.startReading();
  });

  const storedGeneration = async (): Promise<string> =>
    (await redis.ask('HGET', 'test:{0}:merchant:shop', 'generation')).trim();

  it('that is killed and comes back empty costs no call, and no read', async () => {
    const before = group.served()[0]?.generation ?? 0;
    const since = failuresOf(group);
    await redis.kill();
    await eventually(allNotice(group, since));
    expect(group.agrees()).toBe(true);
    await redis.start();
    await eventually(async () => (await storedGeneration()) === String(before));
    const newcomer = await group.add();
    await eventually(() => group.served()[newcomer] !== undefined);
    expect(group.served()[newcomer]?.generation).toBe(before);
    expect(await group.createCalls()).toHaveLength(1);
    expect(faultsOf(await group.observations(), bounds)).toEqual([]);
  });

  it('that is frozen and thawed costs no call and no read', async () => {
    const before = group.served()[0]?.generation;
    const since = failuresOf(group);
    redis.freeze();
    await eventually(allNotice(group, since));
    expect(group.agrees()).toBe(true);
    redis.thaw();
    const recovered = (): boolean => group.members.every(({ events }) => events.of('store_recovered').length > 0);
    await eventually(recovered, HEALED_WITHIN_MS);
    expect(group.served().map((session) => session?.generation)).toEqual([before, before, before]);
    expect(await group.createCalls()).toHaveLength(1);
    expect(faultsOf(await group.observations(), bounds)).toEqual([]);
  });

  it('that forgets everything has the same session back within seconds, at no call', async () => {
    const before = group.served()[0]?.generation ?? 0;
    redis.cli('FLUSHALL');
    await eventually(async () => (await storedGeneration()) === String(before));
    expect(group.served().map((session) => session?.generation)).toEqual([before, before, before]);
    expect(await group.createCalls()).toHaveLength(1);
    expect(faultsOf(await group.observations(), bounds)).toEqual([]);
  });

  it('that forgets everything between two commands costs no call, although a replica starts at that moment', async () => {
    const before = group.served()[0]?.generation ?? 0;
    redis.cli('FLUSHALL');
    const index = await group.add();
    await eventually(() => group.served()[index] !== undefined);
    expect(group.served()[index]?.generation).toBe(before);
    await eventually(() => group.agrees());
    expect(await group.createCalls()).toHaveLength(1);
    expect(faultsOf(await group.observations(), bounds)).toEqual([]);
  });
});

describeWith('redis-server', 'a network', () => {
  it('that is cut between one replica and Redis leaves it serving until expiry, and heals to the newest session', async () => {
    const redis = await RedisProcess.start();
    const proxy = await TcpProxy.to(redis.port);
    const group = await ReplicaGroup.start({
      replicas: 3,
      lifetimeMs: 6_000,
      settings,
      redis: (replica) => to(replica === 0 ? proxy.address : redis.address),
    });
    try {
      await eventually(() => group.agrees());
      group.startReading();
      const before = group.served()[0]?.generation ?? 0;
      proxy.passage = 'cut';
      await eventually(() =>
        group
          .served()
          .slice(1)
          .every((session) => (session?.generation ?? 0) > before),
      );
      expect(group.served()[0]?.generation).toBe(before);
      // Past the session's expiry it serves nothing, rather than something dead.
      await eventually(() => group.served()[0] === undefined);
      proxy.passage = 'open';
      proxy.reset();
      await eventually(() => group.agrees(), HEALED_WITHIN_MS);
      expect(faultsOf(await group.observations(), bounds)).toEqual([]);
    } finally {
      await group.close();
      await proxy.close();
      await redis.stop();
    }
  });
});

describeWith('redis-server', 'a failover by Sentinel', () => {
  it('costs at most one call, and no read', async () => {
    const fixture = await startRedisSentinel();
    const sentinels = fixture.sentinels.map(({ address }) => address);
    const connection: RedisConnection = { kind: 'sentinel', sentinels, name: fixture.name };
    const group = await ReplicaGroup.start({ replicas: 3, lifetimeMs: 30_000, settings, redis: () => connection });
    try {
      await eventually(() => group.agrees());
      group.startReading();
      const since = failuresOf(group);
      await fixture.primary.kill();
      await eventually(allNotice(group, since));
      expect(group.agrees()).toBe(true);
      const recovered = (): boolean => group.members.every(({ events }) => events.of('store_recovered').length > 0);
      await eventually(recovered);
      await eventually(() => group.agrees(), HEALED_WITHIN_MS);
      expect((await group.createCalls()).length).toBeLessThanOrEqual(2);
      expect(faultsOf(await group.observations(), bounds)).toEqual([]);
    } finally {
      await group.close();
      await fixture.stop();
    }
  });
});
