import { SystemClock } from '#libs/clock';
import { type ClientKey, clientKeyInCustody, FileClientKeys, generateClientKey, importClientKey } from '#libs/jwe';
import type { Session, StoredSession } from '#libs/session';
import {
  aClaim,
  aPublication,
  aRecordedFailure,
  aSession,
  describeWith,
  endedAfterAll,
  RedisProcess,
} from '#libs/testing';
import { Redis } from 'ioredis';
import { inspect } from 'node:util';
import { RedisSessionStore } from './redis-session-store.js';

const secrets = {
  authToken: 'canary-auth-token',
  deviceId: 'canary-device-id',
  refreshToken: 'canary-refresh-token',
};

let redis: RedisProcess;
let prefixes = 0;
const closers: (() => Promise<unknown>)[] = [];

const started = endedAfterAll();
beforeAll(async () => {
  redis = started.add(await RedisProcess.start(), (it) => it.stop());
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function aKey(): Promise<{ key: ClientKey; scalar: string }> {
  const { privateJwk } = await generateClientKey();
  return { key: await importClientKey(privateJwk), scalar: privateJwk['d'] ?? '' };
}

/** The same key twice: from its file, and as if it were in a token. */
async function keyInBoth(): Promise<{ file: ClientKey; token: ClientKey }> {
  const { privateJwk } = await generateClientKey();
  const file = await importClientKey(privateJwk);
  const jwk = { ...file.publicJwk, d: privateJwk['d'] ?? '' };
  const curve = { name: 'ECDH', namedCurve: 'P-384' };
  const agreement = await crypto.subtle.importKey('jwk', jwk, curve, false, ['deriveBits']);
  return { file, token: await clientKeyInCustody(file.publicJwk, new FileClientKeys(agreement)) };
}

/** The text itself, and what remains of it in base64 at any offset within a longer text. */
function writings(secret: string): readonly string[] {
  const encoded = [0, 1, 2].map((offset) =>
    Buffer.from(`${'x'.repeat(offset)}${secret}`)
      .toString('base64url')
      .slice(4, -4),
  );
  return [secret, Buffer.from(secret).toString('hex'), ...encoded];
}

const nextPrefix = (): string => `at-rest-${(prefixes += 1)}`;

async function open(keyPrefix: string, keys: readonly ClientKey[]): Promise<RedisSessionStore> {
  const store = await RedisSessionStore.open({
    connection: { kind: 'single', address: redis.address, database: 0 },
    keyPrefix,
    keysOf: () => keys,
    clock: new SystemClock(),
    onStateChange: () => undefined,
  });
  closers.push(() => store.close());
  return store;
}

async function publish(store: RedisSessionStore, overrides: Partial<Session> = {}): Promise<Session> {
  const merchant = overrides.merchant ?? 'shop';
  const result = await store.claim(aClaim({ merchant, mode: 'when_wanted', newerThan: Number.MAX_SAFE_INTEGER }));
  if (result.kind !== 'claimed') throw new Error(`the claim was answered ${result.kind}`);
  const session = aSession({ ...secrets, ...overrides, merchant, generation: result.lease.fence });
  await store.publish(result.lease, aPublication(session, { nextDueInMs: 60_000 }));
  return session;
}

async function stored(store: RedisSessionStore): Promise<StoredSession | undefined> {
  return (await store.read([{ merchant: 'shop', known: 0 }])).states[0]?.stored;
}

/** A second, plain connection: what anyone with access to Redis sees. */
function observer(): Redis {
  const client = new Redis(redis.port, '127.0.0.1', { disableClientInfo: true });
  closers.push(() => Promise.resolve(client.disconnect()));
  return client;
}

const merchantKey = (prefix: string, merchant: string): string => `${prefix}:{0}:merchant:${merchant}`;

describeWith('redis-server', 'a session at rest', () => {
  it('is in no key, value, message or slow log entry of Redis in clear, nor is any key', async () => {
    const { key, scalar } = await aKey();
    const client = observer();
    const seen: unknown[] = [];
    const monitor = await client.monitor();
    monitor.on('monitor', (_time: string, command: string[]) => seen.push(command));
    closers.push(() => Promise.resolve(monitor.disconnect()));
    await client.config('SET', 'slowlog-log-slower-than', '0');

    const store = await open(nextPrefix(), [key]);
    const failing = await store.claim(aClaim({ mode: 'when_wanted' }));
    if (failing.kind !== 'claimed') throw new Error('must be granted');
    await store.release(failing.lease, { called: true, nextDueInMs: 0, failure: aRecordedFailure() });
    const session = await publish(store);
    await stored(store);

    for (const name of await client.keys('*')) {
      const type = await client.type(name);
      if (type === 'hash') seen.push(name, await client.hgetall(name));
      else if (type === 'zset') seen.push(name, await client.zrange(name, '0', '-1', 'WITHSCORES'));
      else if (type === 'string') seen.push(name, await client.get(name));
      else throw new Error(`a key of type ${type} that this test does not look into`);
    }
    seen.push(await client.call('SLOWLOG', 'GET', '1000'));
    const everything = inspect(seen, { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity });
    expect(everything).toContain(String(session.generation));
    expect(everything).toContain('published');
    const { x, y } = session.serverPublic;
    for (const secret of [...Object.values(secrets), x, y, session.clientKeyThumbprint, scalar]) {
      for (const written of writings(secret)) expect(everything).not.toContain(written);
    }
  });

  it('opens with any configured key after a rotation, and is sealed under the newest', async () => {
    const [{ key: old }, { key: fresh }] = [await aKey(), await aKey()];
    const prefix = nextPrefix();
    const before = await publish(await open(prefix, [old]));
    const rotated = await open(prefix, [fresh, old]);
    expect(await stored(rotated)).toMatchObject({ kind: 'session', session: before });
    const after = await publish(rotated);
    const [withFresh, withOld] = [await open(prefix, [fresh]), await open(prefix, [old])];
    expect(await stored(withFresh)).toMatchObject({ kind: 'session', session: after });
    expect(await stored(withOld)).toEqual({ kind: 'unopenable', generation: after.generation });
  });

  it('that no key opens can be replaced by a claim that names its generation', async () => {
    const prefix = nextPrefix();
    const { generation } = await publish(await open(prefix, [(await aKey()).key]));
    const store = await open(prefix, [(await aKey()).key]);
    const blind = await store.claim(aClaim({ mode: 'when_wanted' }));
    expect(blind).toEqual({ kind: 'already_newer', generation });
    const knowing = await store.claim(aClaim({ mode: 'when_wanted', newerThan: generation }));
    expect(knowing).toMatchObject({ kind: 'claimed' });
  });

  it.each<[string, (client: Redis, prefix: string, generation: number) => Promise<unknown>]>([
    [
      'was moved from another merchant',
      async (client, prefix) => {
        const sealed = await client.hget(merchantKey(prefix, 'other'), 'sealed');
        await client.hset(merchantKey(prefix, 'shop'), 'sealed', sealed ?? '');
      },
    ],
    [
      'was given another generation',
      (client, prefix, generation) =>
        client.hset(merchantKey(prefix, 'shop'), 'generation', generation + 1, 'fence', generation + 1),
    ],
    ['was damaged', (client, prefix) => client.hset(merchantKey(prefix, 'shop'), 'sealed', 'not.a.sealed.record.x')],
    ['was emptied', (client, prefix) => client.hdel(merchantKey(prefix, 'shop'), 'sealed')],
  ])('is unopenable when it %s', async (_name, tamper) => {
    const prefix = nextPrefix();
    const store = await open(prefix, [(await aKey()).key]);
    await publish(store, { merchant: 'other' });
    const { generation } = await publish(store);
    await tamper(observer(), prefix, generation);
    expect(await stored(store)).toMatchObject({ kind: 'unopenable' });
  });

  it('is read back whole when it is as long as one may be, and not written at all when it is longer', async () => {
    const prefix = nextPrefix();
    const store = await open(prefix, [(await aKey()).key]);
    const { length } = JSON.stringify({ layout: 1, session: { ...(await publish(store)), deviceId: '' } });
    const longest = await publish(store, { deviceId: 'x'.repeat(32_768 - length) });
    expect(await stored(store)).toMatchObject({ kind: 'session', session: longest });
    const tooLong = publish(store, { deviceId: `${longest.deviceId}x` });
    await expect(tooLong).rejects.toMatchObject({ code: 'jwe_too_large' });
    expect(await stored(store)).toMatchObject({ kind: 'session', session: longest });
  });

  it('cannot be stored for a merchant without a key', async () => {
    const store = await open(nextPrefix(), []);
    await expect(publish(store)).rejects.toMatchObject({ code: 'internal_error' });
  });
});

describeWith('redis-server', 'the number of keys', () => {
  it('does not grow with renewals', async () => {
    const prefix = nextPrefix();
    const store = await open(prefix, [(await aKey()).key]);
    const client = observer();
    await publish(store);
    const before = (await client.keys(`${prefix}:*`)).sort();
    for (let renewal = 0; renewal < 18; renewal += 1) await publish(store);
    expect((await client.keys(`${prefix}:*`)).sort()).toEqual(before);
    expect(await client.zcard(`${prefix}:{0}:due`)).toBe(1);
    expect(await client.hlen(merchantKey(prefix, 'shop'))).toBeLessThanOrEqual(7);
    expect(await client.pttl(`${prefix}:{0}:calls:shop`)).toBeGreaterThan(0);
  });
});

describe('a client key that moves from its file into a token', () => {
  it('loses no session, whichever replica has made the move and whichever has not', async () => {
    const { file, token } = await keyInBoth();
    const prefix = nextPrefix();
    const [not, half, done] = [
      await open(prefix, [file]),
      await open(prefix, [token, file]),
      await open(prefix, [token]),
    ];
    const before = await publish(not);
    for (const replica of [not, half]) expect(await stored(replica)).toMatchObject({ session: before });
    const after = await publish(half);
    for (const replica of [not, half, done]) expect(await stored(replica)).toMatchObject({ session: after });
    const back = await publish(not);
    for (const replica of [not, half]) expect(await stored(replica)).toMatchObject({ session: back });
  });
});
