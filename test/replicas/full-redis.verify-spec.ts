import { describeWith, endedAfterEach, eventually } from '#libs/testing';
import { type Replica, servedBy, TOKEN, WatchedReplicas } from '../observability/watched-replicas.js';

/** For this long after a session, no request for a newer one leads to a call. */
const JUST_RENEWED_MS = 10_000;

/** What a replica says about the merchant's condition. */
interface Said {
  readonly condition: string;
  readonly cause?: string;
  readonly runbook?: string;
}

describeWith('redis-server', 'two replicas on a Redis that is full', () => {
  let watched: WatchedReplicas;
  let both: readonly [Replica, Replica];

  const started = endedAfterEach();
  /** None is renewed by itself, and no call is given up, unless a test says so: calls are counted. */
  async function start(life: { readonly lifetimeMs?: number; readonly timeout?: string } = {}): Promise<number> {
    const shop = { id: 'shop', lifetimeMs: 3_600_000, timeout: '30s', ...life };
    watched = started.add(await WatchedReplicas.start([shop], [], 0), (it) => it.stop());
    both = [await watched.add(), await watched.add()];
    return served(1);
  }

  const read = (replica: Replica, prefer = ''): Promise<number | undefined> => servedBy(replica, 'shop', prefer);
  const ask = async (replica: Replica, path: string): Promise<unknown> =>
    (await fetch(replica.url + path, { headers: { authorization: `Bearer ${TOKEN}` } })).json();
  const said = (): Promise<(Said | undefined)[]> =>
    Promise.all(both.map(async (one) => ((await ask(one, '/v1/merchants')) as { merchants: Said[] }).merchants[0]));
  /** As a person on call has it made. */
  const renew = (): ReturnType<WatchedReplicas['cli']> =>
    watched.cli('renew', '--merchant', 'shop', '--url', both[0].url);

  /** The generation that both serve, once they do, after this many create calls. */
  async function served(calls: number): Promise<number> {
    const generations = await Promise.all(both.map((replica) => read(replica, 'wait=10')));
    expect(generations[0]).toBeGreaterThan(0);
    expect(generations[1]).toBe(generations[0]);
    expect(await watched.createCalls()).toBe(calls);
    return generations[0] ?? 0;
  }

  const setMemory = (bytes: string): void => void watched.redis.cli('config', 'set', 'maxmemory', bytes);
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
      (await Promise.all(both.map((replica) => read(replica)))).every((one) => one === undefined);
    await eventually(noneIsServed);
    const wanted = await Promise.all(both.map((replica) => read(replica, 'wait=1')));
    expect(wanted).toEqual([undefined, undefined]);
    expect(await watched.createCalls()).toBe(1);
    // The next one is not to be renewed by itself before the calls are counted.
    await watched.setLifetime('shop', 3_600_000);
    await giveMemory();
    const newest = async (): Promise<boolean> => ((await read(both[0], 'wait=2')) ?? 0) > before;
    await eventually(newest);
    expect(await served(2)).toBeGreaterThan(before);
  });

  it('create nothing when a person renews, nor when a consumer reports the session dead, and serve on what they hold', async () => {
    const before = await start();
    const { createdAt } = (await ask(both[0], '/v1/merchants/shop/session')) as { createdAt: string };
    await eventually(() => Date.now() - Date.parse(createdAt) > JUST_RENEWED_MS);
    await fill();
    const refused = await renew();
    expect(refused.code).not.toBe(0);
    expect(refused.out).toContain('shop was not renewed');
    expect(await watched.reject('shop', before, both[1])).toBe(503);
    expect(await served(1)).toBe(before);
    await giveMemory();
    // For a few seconds nobody creates: another replica may hold a newer session that it is about to announce.
    await eventually(async () => (await renew()).code === 0);
    expect(await served(2)).toBeGreaterThan(before);
  });

  it('both say that the store is why a session is not replaced that one of them was told is dead', async () => {
    const before = await start();
    await fill();
    expect(await watched.reject('shop', before, both[1])).toBe(503);
    await eventually(async () => {
      return (await said()).every(
        (one) =>
          one?.condition === 'dead' &&
          one.runbook === 'store-down' &&
          /^Payments fail, by report: the store refuses/.test(one.cause ?? ''),
      );
    });
    await giveMemory();
    await eventually(async () => {
      return (await said()).every((one) => one?.runbook !== 'store-down');
    });
  });

  it('both have the session whose create call was under way when the memory ran out', async () => {
    const before = await start();
    const release = await watched.holdNextCreateCall();
    const reporting = watched.reject('shop', before, both[0]);
    await watched.createCallsArrived(2);
    setMemory('1');
    await release();
    expect(await reporting).toBe(200);
    await eventually(async () => ((await read(both[1])) ?? 0) > before);
    expect(await served(2)).toBeGreaterThan(before);
  });
});
