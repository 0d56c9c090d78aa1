import { describeWith, eventually, RedisProcess } from '#libs/testing';
import { Redis } from 'ioredis';
import { KeysInRedis } from './redis-keys-fixture.js';
import { PROBE_MERCHANT } from './redis-keys.js';
import { openedByTests } from './redis-store-fixture.js';
import { operationScripts, probeScript } from './scripts/probe.lua.js';

const { open, started, closeAfterTest } = openedByTests();

let redis: RedisProcess;
let keys: KeysInRedis;
const connection = () => ({ kind: 'single', address: redis.address, database: 0 }) as const;

beforeEach(async () => {
  redis = await started(RedisProcess.start());
  keys = new KeysInRedis(redis.port, 'broker');
  closeAfterTest(() => keys.close());
});

/** The commands that a script can send. */
const commandsOf = (lua: string): string[] =>
  [...lua.matchAll(/redis\.call\('([A-Z]+)'/g)].map(([, name]) => name ?? '');

describeWith('redis-server', 'the probe', () => {
  it('sends every command that an operation can send', async () => {
    await keys.client.config('RESETSTAT');
    await open({ connection: connection() });
    const stats = await keys.client.info('commandstats');
    const sent = new Set([...stats.matchAll(/^cmdstat_(\w+):/gm)].map(([, name]) => name?.toUpperCase()));
    const needed = new Set(operationScripts.flatMap(({ lua }) => commandsOf(lua)));
    expect([...needed].filter((command) => !sent.has(command))).toEqual([]);
  });

  it('leaves nothing behind, and the due moments of others as they were', async () => {
    await keys.client.zadd(keys.due, 5, 'shop');
    const { said } = await open({ connection: connection() });
    expect(said()).toEqual(['answers']);
    expect(await keys.client.keys('*')).toEqual([keys.due]);
    expect(await keys.client.zrange(keys.due, '0', '-1', 'WITHSCORES')).toEqual(['shop', '5']);
  });

  it('announces once, and nothing that any replica takes for news', async () => {
    const messages: string[] = [];
    const listener = new Redis(redis.port, '127.0.0.1', { disableClientInfo: true });
    closeAfterTest(() => listener.disconnect());
    listener.on('message', (_channel: string, message: string) => messages.push(message));
    await listener.subscribe('broker:announcements');
    const { heard } = await open({ connection: connection() });
    await eventually(() => messages.length > 0);
    await keys.client.publish('broker:announcements', 'the last');
    await eventually(() => messages.includes('the last'));
    expect(messages).toEqual(['{}', 'the last']);
    expect(heard).toEqual([]);
  });

  it('needs more than an answer: one that no operation gives is a refusal, until it is gone', async () => {
    const lease = { fence: '4', owner: 'somebody', leaseEndsAt: String(Date.now() + 60_000) };
    await keys.client.hset(keys.hashOf(PROBE_MERCHANT), lease);
    const { said } = await open({ connection: connection() });
    await eventually(() => said().length > 1);
    expect(said()).toEqual(['refuses: UNEXPECTED', 'answers']);
    expect(await keys.client.keys('*')).toEqual([]);
  });

  it('is one script, of those of all operations, each of which it runs', () => {
    const ownPart = probeScript.lua.slice(probeScript.lua.indexOf('local answers'));
    for (const { name, body } of operationScripts) {
      expect(probeScript.lua).toContain(body);
      expect(ownPart).toContain(`${name}({ `);
    }
  });
});
