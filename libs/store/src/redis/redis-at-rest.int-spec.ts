import { randomUUID } from 'node:crypto';
import type { ClaimRequest, Lease, Session, SessionStore, StoredSession } from '#libs/session';
import {
  aBudget,
  aClaim,
  aDeathReport,
  aPublication,
  aRecordedFailure,
  aSession,
  describeWith,
  giveUp,
  lease as leaseIn,
  PATIENT_REDIS,
  RedisProcess,
  stateOf,
} from '#libs/testing';
import type { KeysInRedis } from './redis-keys-fixture.js';
import { type FreshStore, serverWithStores } from './redis-store-fixture.js';
import { SystemClock } from '#libs/clock';
import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import type { Redis } from 'ioredis';
import { inspect } from 'node:util';
import type { RedisSessionStore } from './redis-session-store.js';

/** The length of a lease that only serves as set-up. */
const LEASE_MS = 7_200_000;
const HOUR_MS = 3_600_000;
/** A write counts as sent a little before it was, by as long as the quickest answer of this server took. */
const ON_ITS_WAY_MS = 600_000;
const fresh = serverWithStores('at-rest', { start: () => RedisProcess.start(), timeouts: PATIENT_REDIS });

let keys: KeysInRedis;
let store: SessionStore;
let another: FreshStore['another'];

beforeEach(async () => {
  ({ keys, store, another } = await fresh());
});

const lease = (overrides: Partial<ClaimRequest> = {}): Promise<Lease> => leaseIn(store, overrides);

/** The moment before the length. */
const fromIn = (moment: string | undefined): number => Number(/^\d+/.exec(moment ?? '')?.[0]);

const anyText = expect.any(String) as string;

describeWith('redis-server', 'what an operation leaves in Redis', () => {
  it('calls for as long as the longest window looks back, and never more than it allows, whatever share is asked for', async () => {
    const budget = [
      { calls: 20, perMs: 100 },
      { calls: 5, perMs: HOUR_MS },
    ];
    const share = budget.map(({ calls, perMs }) => ({ calls: Math.floor(calls * 0.75), perMs }));
    for (let round = 0; round < 40; round += 1) {
      const whateverIsStored = { mode: 'when_wanted', newerThan: Number.MAX_SAFE_INTEGER } as const;
      const answer = await store.claim(aClaim({ ...whateverIsStored, budget: round % 2 === 0 ? share : budget }));
      if (answer.kind === 'claimed') await store.release(answer.lease, { called: true, nextDueInMs: 0 });
    }
    const { calls, callsEndInMs } = await keys.of('shop');
    expect(calls).toHaveLength(5);
    expect(callsEndInMs > HOUR_MS - ON_ITS_WAY_MS && callsEndInMs <= HOUR_MS).toBe(true);
  });

  it('all calls of the default budget in the form that Redis keeps in half the memory', async () => {
    const budget = aBudget({ calls: 60, perMs: 86_400_000 });
    const owner = randomUUID();
    for (let call = 0; call < 60; call += 1) {
      await giveUp(store, { owner, budget });
    }
    expect((await keys.of('shop')).calls).toHaveLength(60);
    expect(await keys.client.object('ENCODING', keys.callsOf('shop'))).toBe('listpack');
    expect(await keys.client.memory('USAGE', keys.callsOf('shop'), 'SAMPLES', 0)).toBeLessThan(6 * 1_024);
  });

  it('a claim: its lease, its call, and one moment for the end of both lease and rest', async () => {
    const budget = aBudget({ perMs: HOUR_MS });
    let leased: Lease | undefined;
    const [began, ended] = await keys.during(async () => (leased = await lease({ coolDownMs: 5_000, budget })));
    const { hash, calls, callsEndInMs, dueAtMs } = await keys.of('shop');
    const at = Number(hash['cooledDownAt']);
    expect(at >= began && at <= ended).toBe(true);
    const moment = `${at} ${LEASE_MS}`;
    const fence = String(at);
    expect(hash).toEqual({ fence, owner: 'replica-1', lease: moment, cooledDownAt: String(at), due: moment });
    expect(calls).toEqual([[fence, at]]);
    expect(callsEndInMs > HOUR_MS - ON_ITS_WAY_MS && callsEndInMs <= HOUR_MS).toBe(true);
    expect(dueAtMs).toBe(at + LEASE_MS);
    expect(leased).toMatchObject({ owner: 'replica-1', fence: at, remainingMs: LEASE_MS });
  });

  it('a publication: the session and when the next is due, and nothing of lease or failures', async () => {
    await giveUp(store, { coolDownMs: 1 }, { failure: aRecordedFailure() });
    const leased = await lease();
    const ageMs = HOUR_MS;
    const publication = aPublication(aSession({ generation: leased.fence }), { ageMs, nextDueInMs: 40_000 });
    const [began, ended] = await keys.during(() => store.publish(publication, leased));
    const { hash, dueAtMs } = await keys.of('shop');
    const answeredAt = Number(hash['publishedAt']);
    expect(answeredAt >= began - ageMs - ON_ITS_WAY_MS && answeredAt <= ended - ageMs).toBe(true);
    const fence = String(leased.fence);
    const due = `${answeredAt + ageMs} 40000`;
    expect(hash).toEqual({
      fence,
      generation: fence,
      sealed: anyText,
      publishedAt: anyText,
      cooledDownAt: anyText,
      due,
    });
    expect(dueAtMs).toBe(answeredAt + ageMs + 40_000);
  });

  it('a report that the session is dead: of which, since when, and what it proves', async () => {
    const { generation } = aSession({ generation: 4_711 });
    await store.publish(aPublication(aSession({ generation })));
    const { hash: before } = await keys.of('shop');
    const report = aDeathReport({ generation, ageMs: HOUR_MS, mayProve: true });
    const [began, ended] = await keys.during(() => store.report('shop', report));
    const { hash } = await keys.of('shop');
    const [, at = '', early] = /^4711 (\d+) (.*)$/.exec(hash['reportedDead'] ?? '') ?? [];
    expect(Number(at) >= began - HOUR_MS - ON_ITS_WAY_MS && Number(at) <= ended - HOUR_MS).toBe(true);
    expect([hash, early]).toEqual([{ ...before, reportedDead: anyText }, '1']);
    await store.report('shop', { generation, ageMs: 0, mayProve: false });
    expect((await keys.of('shop')).hash['reportedDead']).toMatch(/^4711 \d+ 1$/);
  });

  it('a release: the failure, how many there were, and when the next attempt is due', async () => {
    const failure = aRecordedFailure();
    await giveUp(store, {}, { failure });
    const leased = await lease();
    const release = { called: true, nextDueInMs: 40_000, failure: aRecordedFailure({ kind: 'timeout' }) };
    const [began, ended] = await keys.during(() => store.release(leased, release));
    const { hash, dueAtMs } = await keys.of('shop');
    const at = fromIn(hash['due']);
    expect(at >= began && at <= ended).toBe(true);
    const fence = String(leased.fence);
    expect(hash).toEqual({ fence, failures: '2', failure: JSON.stringify(release.failure), due: `${at} 40000` });
    expect(dueAtMs).toBe(at + 40_000);
  });

  it('a release of what was never called: neither its call nor its cool-down, and those of another stay', async () => {
    await giveUp(store, { coolDownMs: 5_000 }, { called: false });
    const given = await keys.of('shop');
    expect([given.hash['cooledDownAt'], given.calls]).toEqual([undefined, []]);
    await giveUp(store, { coolDownMs: 5_000 });
    const before = await keys.of('shop');
    await keys.moveMoments(-1);
    await giveUp(store, {}, { called: false });
    const { hash, calls } = await keys.of('shop');
    expect(Number(hash['cooledDownAt'])).toBe(Number(before.hash['cooledDownAt']) - 1);
    expect(calls).toHaveLength(1);
  });

  it('a read: a merchant that is due, and what it is already, the same as before', async () => {
    const look = (): Promise<unknown> => store.read([{ merchant: 'shop', known: 0 }]);
    const [began, ended] = await keys.during(look);
    const { hash, dueAtMs = 0 } = await keys.of('shop');
    expect(dueAtMs >= began && dueAtMs <= ended).toBe(true);
    expect(hash).toEqual({ due: `${dueAtMs} 0` });
    await giveUp(store, {}, { nextDueInMs: 40_000 });
    const before = await keys.of('shop');
    await look();
    expect(await keys.of('shop')).toEqual({ ...before, callsEndInMs: expect.any(Number) as number });
  });

  it('a look at what is due, and what was refused: the same as before', async () => {
    await giveUp(store, { coolDownMs: 1 }, { failure: aRecordedFailure() });
    const leased = await lease();
    await store.publish(aPublication(aSession({ generation: leased.fence + 1 })));
    const before = { ...(await keys.of('shop')), callsEndInMs: expect.any(Number) as number };
    await store.due(5);
    const claim = aClaim({ owner: 'replica-2', mode: 'when_wanted', newerThan: leased.fence + 1 });
    expect((await store.claim(claim)).kind).toBe('held');
    expect((await store.claim(aClaim({ owner: 'replica-2' }))).kind).toBe('already_newer');
    const older = aPublication(aSession({ generation: leased.fence }));
    expect(await store.publish(older, leased)).toBe('fenced');
    expect(await store.publish(older)).toBe('fenced');
    const stranger = { ...leased, owner: 'replica-2' };
    expect(await store.release(stranger, { called: false, nextDueInMs: 0, failure: aRecordedFailure() })).toBe(false);
    expect(await store.report('shop', aDeathReport({ generation: leased.fence }))).toMatchObject({ isKept: false });
    expect(await keys.of('shop')).toEqual(before);
  });

  it('a session that is older than the clock of the store: answered when that began', async () => {
    await store.publish(aPublication(aSession(), { ageMs: 8e15 }));
    expect((await keys.of('shop')).hash['publishedAt']).toBe('0');
  });
});

const secrets = {
  authToken: 'canary-auth-token',
  deviceId: 'canary-device-id',
  refreshToken: 'canary-refresh-token',
};

async function aKey(): Promise<{ key: ClientKey; scalar: string }> {
  const { privateJwk } = await generateClientKey();
  return { key: await importClientKey(privateJwk), scalar: privateJwk['d'] ?? '' };
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

/** Another replica, with these keys. */
const open = async (...keysInUse: ClientKey[]): Promise<RedisSessionStore> =>
  (await another({ keysOf: () => keysInUse })).store;

async function publish(store: RedisSessionStore, overrides: Partial<Session> = {}): Promise<Session> {
  const merchant = overrides.merchant ?? 'shop';
  const leased = await leaseIn(store, { merchant });
  const session = aSession({ ...secrets, ...overrides, merchant, generation: leased.fence });
  await store.publish(aPublication(session), leased);
  return session;
}

const stored = async (store: RedisSessionStore): Promise<StoredSession> => (await stateOf(store)).stored;

describeWith('redis-server', 'a session at rest', () => {
  it('is in no key, value, message or slow log entry of Redis in clear, nor is any key', async () => {
    const { key, scalar } = await aKey();
    const { client } = keys;
    const seen: unknown[] = [];
    const monitor = await client.monitor();
    monitor.on('monitor', (_time: string, command: string[]) => seen.push(command));
    await client.config('SET', 'slowlog-log-slower-than', '0');

    const store = await open(key);
    await giveUp(store, {}, { failure: aRecordedFailure() });
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
    monitor.disconnect();
    const everything = inspect(seen, { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity });
    expect(everything).toContain(String(session.generation));
    expect(everything).toContain('changed');
    const { x, y } = session.serverPublic;
    for (const secret of [...Object.values(secrets), x, y, session.clientKeyThumbprint, scalar]) {
      for (const written of writings(secret)) expect(everything).not.toContain(written);
    }
  });

  it('opens with any configured key after a rotation, and is sealed under the newest', async () => {
    const [{ key: old }, { key: fresh }] = [await aKey(), await aKey()];
    const before = await publish(await open(old));
    const rotated = await open(fresh, old);
    expect(await stored(rotated)).toMatchObject({ kind: 'session', session: before });
    const after = await publish(rotated);
    const [withFresh, withOld] = [await open(fresh), await open(old)];
    expect(await stored(withFresh)).toMatchObject({ kind: 'session', session: after });
    expect(await stored(withOld)).toEqual({ kind: 'unopenable', generation: after.generation });
  });

  it.each<[string, (client: Redis, generation: number) => Promise<unknown>]>([
    [
      'was moved from another merchant',
      async (client) => {
        const sealed = await client.hget(keys.hashOf('other'), 'sealed');
        await client.hset(keys.hashOf('shop'), 'sealed', sealed ?? '');
      },
    ],
    [
      'was given another generation',
      (client, generation) => client.hset(keys.hashOf('shop'), 'generation', generation + 1, 'fence', generation + 1),
    ],
    ['was damaged', (client) => client.hset(keys.hashOf('shop'), 'sealed', 'not.a.sealed.record.x')],
    ['was emptied', (client) => client.hdel(keys.hashOf('shop'), 'sealed')],
  ])('is unopenable when it %s', async (_name, tamper) => {
    const store = await open((await aKey()).key);
    await publish(store, { merchant: 'other' });
    const { generation } = await publish(store);
    await tamper(keys.client, generation);
    expect(await stored(store)).toMatchObject({ kind: 'unopenable' });
  });

  it('is read back whole when it is as long as one may be, and not written at all when it is longer', async () => {
    const store = await open((await aKey()).key);
    const { length } = JSON.stringify({ layout: 1, session: { ...(await publish(store)), deviceId: '' } });
    const longest = await publish(store, { deviceId: 'x'.repeat(32_768 - length) });
    expect(await stored(store)).toMatchObject({ kind: 'session', session: longest });
    const tooLong = publish(store, { deviceId: `${longest.deviceId}x` });
    await expect(tooLong).rejects.toMatchObject({ code: 'jwe_too_large' });
    expect(await stored(store)).toMatchObject({ kind: 'session', session: longest });
  });

  it('is as old as it is, however long it takes to be sealed', async () => {
    const clock = new (class extends SystemClock {
      behindMs = 0;
      override monotonicMs(): number {
        return super.monotonicMs() - this.behindMs;
      }
    })();
    const { key } = await aKey();
    const keysOf = (): readonly ClientKey[] => {
      clock.behindMs = 0;
      return [key];
    };
    const { store: slow } = await another({ clock, keysOf });
    const ageOf = async (): Promise<number> => ((await stored(slow)) as { ageMs: number }).ageMs;
    const leased = await lease();
    const session = aSession({ generation: leased.fence });
    // It is an hour ago when it is asked for, and now when it is sealed.
    clock.behindMs = HOUR_MS;
    await slow.publish(aPublication(session, { ageMs: 0 }), leased);
    expect(await ageOf()).toBeGreaterThan(HOUR_MS - ON_ITS_WAY_MS);
  });

  it('is as old as it is, and dead since when it was, however late the server runs the command', async () => {
    const LATE_MS = 2_000;
    const { generation } = aSession({ generation: 4_711 });
    await store.publish(aPublication(aSession({ merchant: 'other', generation })));
    const leased = await lease();
    await keys.client.client('PAUSE', LATE_MS);
    const sentAtMs = performance.now();
    await Promise.all([
      store.publish(aPublication(aSession({ generation: leased.fence }), { nextDueInMs: HOUR_MS }), leased),
      store.report('other', aDeathReport({ generation, ageMs: 500 })),
    ]);
    const waitedMs = performance.now() - sentAtMs;
    const { states } = await store.read(['shop', 'other'].map((merchant) => ({ merchant, known: 0 })));
    const [shop, other] = states;
    expect(waitedMs).toBeGreaterThan(LATE_MS / 2);
    const agesMs = [(shop?.stored as { ageMs: number }).ageMs, (other?.reportedDead?.ageMs ?? NaN) - 500];
    for (const ageMs of [...agesMs, HOUR_MS - (shop?.dueInMs ?? NaN)]) {
      // The sender's time runs by one clock and the server's by another, which may drift from it.
      expect(ageMs).toBeGreaterThan(waitedMs - LATE_MS / 10);
      expect(ageMs).toBeLessThan(performance.now() - sentAtMs + LATE_MS / 2);
    }
  });

  it('cannot be stored for a merchant without a key', async () => {
    const store = await open();
    await expect(publish(store)).rejects.toMatchObject({ code: 'internal_error' });
  });
});

describeWith('redis-server', 'the number of keys', () => {
  it('does not grow with renewals', async () => {
    const store = await open((await aKey()).key);
    const { client } = keys;
    await publish(store);
    const before = (await client.keys(`${keys.prefix}:*`)).sort();
    for (let renewal = 0; renewal < 18; renewal += 1) await publish(store);
    expect((await client.keys(`${keys.prefix}:*`)).sort()).toEqual(before);
    expect(await client.zcard(keys.due)).toBe(1);
    expect(await client.hlen(keys.hashOf('shop'))).toBeLessThanOrEqual(7);
    expect(await client.pttl(keys.callsOf('shop'))).toBeGreaterThan(0);
  });
});
