import { eventually, RedisProcess } from '#libs/testing';
import { RunningBroker } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';

describe('a store that refuses', () => {
  let redis: RedisProcess;
  let broker: RunningBroker;

  const rights = (...of: readonly string[]): void =>
    void redis.cli('ACL', 'SETUSER', 'broker', 'reset', 'on', '>secret', '~*', '&*', ...of);
  const ofManagement = async (path: string): Promise<unknown> => (await fetch(broker.managementUrl + path)).json();
  const readiness = (): Promise<unknown> => ofManagement('/readyz');
  const told = (message: string): unknown[] =>
    broker.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => String(msg).startsWith(message));

  beforeEach(async () => {
    redis = await RedisProcess.start();
  });
  afterEach(async () => {
    await broker.close();
    await redis.stop();
  });

  const start = async (): Promise<void> => {
    const store = `{ type: redis, url: 'redis://broker:secret@127.0.0.1:${redis.port}/0', onStoreOutage: authorize }`;
    broker = await RunningBroker.start({ store });
  };

  it('from the start on lets a replica neither create nor be ready, and says why, until its rights are mended', async () => {
    rights('+@all', '-evalsha', '-eval');
    await start();
    await eventually(async () => ((await readiness()) as { store: string }).store === 'refuses', 10_000);
    expect(await readiness()).toMatchObject({ ready: false, storeReason: 'NOPERM', storeReached: false });
    expect(await ofManagement('/status.json')).toMatchObject({ store: { condition: 'refuses', reason: 'NOPERM' } });
    expect((await broker.get(SESSION)).status).toBe(503);
    expect(await broker.createCalls()).toBe(0);
    expect(told('the store refuses: NOPERM')).toHaveLength(1);
    rights('+@all');
    await eventually(async () => ((await readiness()) as { store: string }).store === 'answers', 10_000);
    expect((await broker.get(SESSION, { prefer: 'wait=10' })).status).toBe(200);
    expect(await broker.createCalls()).toBeLessThanOrEqual(2);
  }, 40_000);

  it('later leaves what is held in force, and the replica ready', async () => {
    rights('+@all');
    await start();
    expect((await broker.get(SESSION, { prefer: 'wait=10' })).status).toBe(200);
    const calls = await broker.createCalls();
    rights('+@all', '-evalsha', '-eval');
    await eventually(async () => ((await readiness()) as { store: string }).store === 'refuses', 10_000);
    expect(await readiness()).toMatchObject({ ready: true, storeReason: 'NOPERM', storeReached: true });
    expect((await broker.get(SESSION)).status).toBe(200);
    expect(await broker.createCalls()).toBe(calls);
    expect(told('the store does not answer')).toEqual([]);
  }, 40_000);
});
