import { request, type Test } from './http-request.js';
import { describeWith, endedAfterEach, eventually, RedisProcess } from '#libs/testing';
import { RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';

describeWith('redis-server', 'a store that refuses', () => {
  let redis: RedisProcess;
  let broker: RunningBroker;

  const rights = (...of: readonly string[]): void =>
    void redis.cli('ACL', 'SETUSER', 'broker', 'reset', 'on', '>secret', '~*', '&*', ...of);
  const readiness = (): Test => request(broker.managementUrl).get('/readyz');
  const storeIs = (condition: string): Promise<void> =>
    eventually(async () => ((await readiness()).body as { store: string }).store === condition);
  const read = (): Test => broker.as(TOKENS.checkout).get(SESSION);
  const listed = async (): Promise<object> =>
    (await broker.as(TOKENS.checkout).get('/v1/merchants').expect(200)).body as object;
  const told = (message: string): unknown[] =>
    broker.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => String(msg).startsWith(message));

  const started = endedAfterEach();
  beforeEach(async () => {
    redis = started.add(await RedisProcess.start(), (it) => it.stop());
  });

  const start = async (): Promise<void> => {
    const store = `{ type: redis, url: 'redis://broker:secret@127.0.0.1:${redis.port}/0', onStoreOutage: authorize }`;
    broker = started.add(await RunningBroker.start({ store }), (it) => it.close());
  };

  it('from the start on lets a replica neither create nor be ready, and says why, until its rights are mended', async () => {
    rights('+@all', '-evalsha', '-eval');
    await start();
    await storeIs('refuses');
    const unready = await readiness().expect(503);
    expect(unready.body).toMatchObject({ ready: false, storeReason: 'NOPERM', storeReached: false });
    const status = await request(broker.managementUrl).get('/status.json').expect(200);
    expect(status.body).toMatchObject({ store: { condition: 'refuses', reason: 'NOPERM' } });
    await read().expect(503);
    expect(await broker.createCalls()).toBe(0);
    expect(told('the store refuses: NOPERM')).toHaveLength(1);
    rights('+@all');
    await storeIs('answers');
    await read().set('prefer', 'wait=10').expect(200);
    expect(await broker.createCalls()).toBeLessThanOrEqual(2);
  });

  it('later leaves what is held in force, and the replica ready', async () => {
    rights('+@all');
    await start();
    await read().set('prefer', 'wait=10').expect(200);
    const calls = await broker.createCalls();
    expect(await listed()).toMatchObject({ store: 'answers' });
    expect(await listed()).not.toHaveProperty('storeReason');
    rights('+@all', '-evalsha', '-eval');
    await storeIs('refuses');
    expect(await listed()).toMatchObject({ store: 'refuses', storeReason: 'NOPERM' });
    const ready = await readiness().expect(200);
    expect(ready.body).toMatchObject({ ready: true, storeReason: 'NOPERM', storeReached: true });
    await read().expect(200);
    expect(await broker.createCalls()).toBe(calls);
    expect(told('the store does not answer')).toEqual([]);
  });
});
