import { describeWith, endedAfterEach, eventually, RedisProcess } from '#libs/testing';
import { type ReplicaProcess, ReplicaProcesses } from './replica-processes.js';

/** For this long after a session, no request for a newer one leads to a call. */
const JUST_RENEWED_MS = 10_000;

describeWith('redis-server', 'two replicas on a Redis that is full', () => {
  let redis: RedisProcess;
  let replicas: ReplicaProcesses;
  let both: readonly [ReplicaProcess, ReplicaProcess];

  const started = endedAfterEach();
  async function start(life: { readonly lifetimeMs?: number; readonly timeout?: string } = {}): Promise<number> {
    redis = started.add(await RedisProcess.start(), (it) => it.stop());
    const options = { redisUrl: redis.url, ...life };
    replicas = started.add(await ReplicaProcesses.start(options), (it) => it.close());
    both = [await replicas.add(), await replicas.add()];
    return served(1);
  }

  /** The generation that both serve, once they do, after this many create calls. */
  async function served(calls: number): Promise<number> {
    const generations = await Promise.all(both.map((replica) => replicas.read(replica, { prefer: 'wait=10' })));
    expect(generations[0]).toBeGreaterThan(0);
    expect(generations[1]).toBe(generations[0]);
    expect(await replicas.createCalls()).toBe(calls);
    return generations[0] ?? 0;
  }

  const setMemory = (bytes: string): void => void redis.cli('config', 'set', 'maxmemory', bytes);
  async function fill(): Promise<void> {
    setMemory('1');
    await Promise.all(both.map(({ process }) => process.said(/the store refuses: OOM/)));
  }
  async function giveMemory(): Promise<void> {
    setMemory('0');
    await Promise.all(both.map(({ process }) => process.said(/the store answers again/)));
  }

  it('create nothing by schedule, nor on demand once the session has ended, and serve one session after it', async () => {
    // Due long after the memory has run out, and over soon enough to be waited for.
    const before = await start({ lifetimeMs: 60_000, timeout: '5s' });
    await fill();
    const noneIsServed = async (): Promise<boolean> =>
      (await Promise.all(both.map((replica) => replicas.read(replica)))).every((one) => one === undefined);
    await eventually(noneIsServed);
    const wanted = await Promise.all(both.map((replica) => replicas.read(replica, { prefer: 'wait=1' })));
    expect(wanted).toEqual([undefined, undefined]);
    expect(await replicas.createCalls()).toBe(1);
    // The next one is not to be renewed by itself before the calls are counted.
    await replicas.control('PATCH', '/settings', { lifetimeMs: 3_600_000 });
    await giveMemory();
    const newest = async (): Promise<boolean> => ((await replicas.read(both[0], { prefer: 'wait=2' })) ?? 0) > before;
    await eventually(newest);
    expect(await served(2)).toBeGreaterThan(before);
  });

  it('create nothing when a person renews, nor when a consumer reports the session dead, and serve on what they hold', async () => {
    const before = await start();
    const { createdAt = '' } = (await replicas.session(both[0])) ?? {};
    await eventually(() => Date.now() - Date.parse(createdAt) > JUST_RENEWED_MS);
    await fill();
    const refused = await replicas.renew(both[0]);
    expect(refused.code).not.toBe(0);
    expect(refused.out).toContain('shop was not renewed');
    expect(await replicas.reject(both[1], before)).toBe(503);
    expect(await served(1)).toBe(before);
    await giveMemory();
    // For a few seconds nobody creates: another replica may hold a newer session that it is about to announce.
    await eventually(async () => (await replicas.renew(both[0])).code === 0);
    expect(await served(2)).toBeGreaterThan(before);
  });

  it('both say that the store is why a session is not replaced that one of them was told is dead', async () => {
    const before = await start();
    await fill();
    expect(await replicas.reject(both[1], before)).toBe(503);
    await eventually(async () => {
      const said = await Promise.all(both.map((replica) => replicas.said(replica)));
      return said.every(
        (one) =>
          one?.condition === 'dead' &&
          one.runbook === 'store-down' &&
          /^Payments fail, by report: the store refuses/.test(one.cause ?? ''),
      );
    });
    await giveMemory();
    await eventually(async () => {
      const said = await Promise.all(both.map((replica) => replicas.said(replica)));
      return said.every((one) => one?.runbook !== 'store-down');
    });
  });

  it('both have the session whose create call was under way when the memory ran out', async () => {
    const before = await start();
    const { arrived, release } = await replicas.holdCreateCall();
    const reporting = replicas.reject(both[0], before);
    await arrived();
    setMemory('1');
    await release();
    expect(await reporting).toBe(200);
    await eventually(async () => ((await replicas.read(both[1])) ?? 0) > before);
    expect(await served(2)).toBeGreaterThan(before);
  });
});
