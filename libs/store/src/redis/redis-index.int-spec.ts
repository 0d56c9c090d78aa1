import type { ClaimRequest, Lease, SessionStore, StoredState } from '#libs/session';
import {
  aClaim,
  anOffer,
  aPublication,
  aSession,
  describeWith,
  lease as leaseIn,
  PATIENT_REDIS,
  RedisProcess,
  stateOf as stateIn,
} from '#libs/testing';
import type { KeysInRedis } from './redis-keys-fixture.js';
import { serverWithStores } from './redis-store-fixture.js';
import { dueScript } from './scripts/due.lua.js';
import { settleScript } from './scripts/settle.lua.js';

const WAIT_MS = 600_000;
/** Longer than a test may take. */
const SLACK_MS = 300_000;
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const fresh = serverWithStores('index', { start: () => RedisProcess.start(), timeouts: PATIENT_REDIS });

let keys: KeysInRedis;
let store: SessionStore;
/** A replica that serves no merchant of the other's configuration. */
let stranger: SessionStore;

beforeEach(async () => {
  const opened = await fresh();
  ({ keys, store } = opened);
  ({ store: stranger } = await opened.another());
});

const byOther = (overrides: Partial<ClaimRequest> = {}): ClaimRequest =>
  aClaim({ owner: 'replica-2', newerThan: Number.MAX_SAFE_INTEGER, ...overrides });

const lease = (overrides: Partial<ClaimRequest> = {}): Promise<Lease> => leaseIn(store, overrides);

const stateOf = (): Promise<StoredState> => stateIn(store);

/**
 * As left by a replica that writes due moments only to the index: the fence advances, and the hash names the old one.
 */
async function leftByOlderVersion(dueInMs: number, fields: Record<string, string> = {}): Promise<number> {
  const dueAtMs = Date.now() + dueInMs;
  await keys.client.zadd(keys.due, dueAtMs, 'shop');
  await keys.client.hset(keys.hashOf('shop'), { fence: '1700000000002', ...fields });
  return dueAtMs;
}

const ofOlderFence = { dueAt: '1700000000000', dueMs: '0', dueFence: '1700000000000' };

describeWith('redis-server', 'a merchant whose due moment only the index has', () => {
  it.each<[string, Record<string, string>]>([
    ['and the hash has none', {}],
    ['since the one of the hash was set under another fence', ofOlderFence],
    ['since the one of the hash is not a number', { dueAt: 'soon', dueMs: '0', dueFence: '1700000000002' }],
  ])('is due when the index says so: %s', async (_name, fields) => {
    const dueAtMs = await leftByOlderVersion(WAIT_MS, fields);
    const mark = `due:${dueAtMs}:${fields['dueFence'] ?? ''}`;
    const state = await stateOf();
    expect(state.dueMark).toBe(mark);
    expect(state.dueInMs).toBeGreaterThan(WAIT_MS - SLACK_MS);
    expect(state.dueInMs).toBeLessThanOrEqual(WAIT_MS);
    expect(await store.claim(byOther())).toMatchObject({ kind: 'not_due', mark });
    expect(await store.claim(byOther({ watched: mark }))).toMatchObject({ kind: 'claimed' });
  });

  it('keeps that moment in its hash from its enrolment on', async () => {
    const dueAtMs = await leftByOlderVersion(WAIT_MS, ofOlderFence);
    const before = await stateOf();
    await store.enrol(['shop']);
    const { hash, dueAtMs: indexed } = await keys.of('shop');
    expect(hash).toEqual({
      fence: '1700000000002',
      dueAt: String(dueAtMs),
      dueMs: expect.stringMatching(/^(600000|[3-5]\d{5})$/) as string,
      dueFence: '1700000000002',
    });
    expect(indexed).toBe(dueAtMs);
    await keys.client.zrem(keys.due, 'shop');
    expect((await stateOf()).dueInMs).toBeLessThanOrEqual(before.dueInMs ?? 0);
  });

  it('keeps one that is over as one that was over when it was set', async () => {
    const dueAtMs = await leftByOlderVersion(-WAIT_MS);
    await store.enrol(['shop']);
    expect((await keys.of('shop')).hash).toMatchObject({ dueAt: String(dueAtMs), dueMs: '0' });
    expect(await store.due(5)).toEqual({ merchants: ['shop'] });
  });

  it('is listed when the index says so, for every replica', async () => {
    await leftByOlderVersion(-WAIT_MS, ofOlderFence);
    expect((await stranger.due(5)).merchants).toEqual(['shop']);
  });

  it('is not due for a replica that looks at its hash, before the index says so', async () => {
    await leftByOlderVersion(-WAIT_MS, ofOlderFence);
    await keys.client.zadd(keys.due, Date.now() + WAIT_MS, 'shop');
    expect((await store.due(5)).merchants).toEqual([]);
    expect(await store.claim(byOther())).toMatchObject({ kind: 'not_due' });
  });

  it('has none where the index is of another type, and then counts as due', async () => {
    await leftByOlderVersion(WAIT_MS, ofOlderFence);
    await keys.client.del(keys.due);
    await keys.client.set(keys.due, 'x');
    const state = await stateOf();
    expect(state).not.toHaveProperty('dueInMs');
    expect(state).not.toHaveProperty('dueMark');
    expect(await store.claim(byOther())).toMatchObject({ kind: 'claimed' });
  });
});

describeWith('redis-server', 'the due moment of a hash', () => {
  it('is named by its own fence once its lease has ended by itself', async () => {
    const first = await lease();
    const leased = await stateOf();
    expect(leased.dueMark).toMatch(new RegExp(`^lease:${first.fence}:`));
    await store.release(first, { called: true, nextDueInMs: WAIT_MS });
    const { hash } = await keys.of('shop');
    expect((await stateOf()).dueMark).toBe(`due:${hash['dueAt']}:${first.fence}`);
    expect(await store.claim(byOther())).toMatchObject({ mark: `due:${hash['dueAt']}:${first.fence}` });
  });

  it('is not that of a lease which ends at another moment', async () => {
    const { fence } = await lease();
    await keys.client.hincrby(keys.hashOf('shop'), 'dueAt', 1);
    expect((await stateOf()).dueMark).toMatch(new RegExp(`^due:\\d+:${fence}$`));
  });

  it('goes back into an index that names another moment, at the enrolment', async () => {
    await store.release(await lease(), { called: true, nextDueInMs: WAIT_MS });
    const { dueAtMs } = await keys.of('shop');
    for (const wrong of ['+inf', '0', String(Date.now() + HOUR_MS)]) {
      await keys.client.zadd(keys.due, wrong, 'shop');
      await store.enrol(['shop']);
      expect((await keys.of('shop')).dueAtMs).toBe(dueAtMs);
    }
  });

  it('comes into the index as what is left of it, when the clock was set back', async () => {
    await store.release(await lease(), { called: true, nextDueInMs: WAIT_MS });
    await keys.client.hincrby(keys.hashOf('shop'), 'dueAt', HOUR_MS);
    await keys.client.zrem(keys.due, 'shop');
    const [began, ended] = await keys.during(() => store.enrol(['shop']));
    const { dueAtMs = 0 } = await keys.of('shop');
    expect(dueAtMs >= began + WAIT_MS && dueAtMs <= ended + WAIT_MS).toBe(true);
    await keys.client.zadd(keys.due, 0, 'shop');
    const [looked, found] = await keys.during(() => store.due(5));
    const { dueAtMs: settled = 0 } = await keys.of('shop');
    expect(settled >= looked + WAIT_MS && settled <= found + WAIT_MS).toBe(true);
  });
});

describeWith('redis-server', 'an index of another type', () => {
  const operations: Record<string, () => Promise<unknown>> = {
    enrol: () => store.enrol(['shop']),
    claim: () => store.claim(byOther({ mode: 'when_wanted' })),
    offer: () => store.offer(anOffer(aSession({ generation: 4_711 }))),
    due: () => store.due(5),
    read: () => store.read([{ merchant: 'shop', known: 0 }]),
  };
  it.each(Object.entries(operations))(
    'makes way for the operation that meets it first: %s',
    async (_name, operation) => {
      await keys.client.set(keys.due, 'x');
      await operation();
      expect(['none', 'zset']).toContain(await keys.client.type(keys.due));
    },
  );

  it('makes way for a publication and for a release', async () => {
    const leased = await lease();
    const wrong = async (): Promise<unknown> => (await keys.client.del(keys.due), keys.client.set(keys.due, 'x'));
    await wrong();
    await store.publish(leased, aPublication(aSession({ generation: leased.fence }), { nextDueInMs: 0 }));
    expect((await keys.of('shop')).dueAtMs).toEqual(expect.any(Number));
    const next = await lease();
    await wrong();
    expect(await store.release(next, { called: true, nextDueInMs: 0 })).toBe(true);
    expect((await keys.of('shop')).dueAtMs).toEqual(expect.any(Number));
  });
});

describeWith('redis-server', 'what is listed as due', () => {
  it('is not taken from the index by a replica that does not serve it, for an hour', async () => {
    await store.enrol(['shop']);
    await keys.client.zadd(keys.due, Date.now() - HOUR_MS + WAIT_MS, 'shop');
    expect((await stranger.due(5)).merchants).toEqual(['shop']);
    await keys.client.zadd(keys.due, Date.now() - HOUR_MS - 1_000, 'shop');
    await store.enrol(['second']);
    await keys.client.zadd(keys.due, Date.now() - HOUR_MS - 9_000, 'second');
    expect((await store.due(5)).merchants).toEqual(['second', 'shop']);
    expect((await stranger.due(5)).merchants).toEqual([]);
    expect((await keys.of('shop')).dueAtMs).toBeUndefined();
  });

  it('goes when there is no such merchant, unless a replica serves it or it was damaged', async () => {
    await keys.client.zadd(keys.due, Date.now() - 1_000, 'shop');
    expect((await stranger.due(5)).merchants).toEqual([]);
    expect(await keys.client.zcard(keys.due)).toBe(0);
    await store.enrol(['shop']);
    await keys.client.del(keys.hashOf('shop'));
    expect((await store.due(5)).merchants).toEqual(['shop']);
    await keys.client.set(keys.hashOf('shop'), 'x');
    expect((await stranger.due(5)).merchants).toEqual(['shop']);
    expect((await stranger.due(5)).merchants).toEqual([]);
  });

  it('has a name of at most 512 bytes', async () => {
    const [longest, tooLong] = ['x'.repeat(512), 'y'.repeat(513)];
    await store.enrol([longest]);
    await keys.client.zadd(keys.due, 0, tooLong);
    expect((await store.due(5)).merchants).toEqual([longest]);
    expect(await keys.client.zrange(keys.due, '0', '-1')).toEqual([longest]);
  });

  it('is listed as it stands in the index, with the size of the index, and without a name that is not ours', async () => {
    const tooLong = 'y'.repeat(513);
    await keys.client.zadd(keys.due, '-inf', 'a', 1, tooLong, '+inf', 'z');
    const [size, first, firstMs, second, ...others] = (await keys.client.eval(
      dueScript.lua,
      1,
      keys.due,
      2,
    )) as unknown[];
    expect([size, first, firstMs, second]).toEqual([3, 'a', '-315576000000', '']);
    expect(others).toEqual([expect.stringMatching(/^-3155760{5}0$/)]);
    expect(await keys.client.eval(dueScript.lua, 1, keys.due, 5)).toEqual([2, 'a', '-315576000000', 'z', '86400000']);
    await keys.client.del(keys.due);
    await keys.client.set(keys.due, 'x');
    expect(await keys.client.eval(settleScript.lua, 2, keys.due, keys.hashOf('shop'), 'shop', '1')).toEqual([1]);
  });

  it('is limited in number, and says how soon the next is due up to a day', async () => {
    await store.enrol(['a', 'b', 'c']);
    expect((await store.due(2)).merchants).toHaveLength(2);
    for (const merchant of ['a', 'b', 'c']) {
      const leased = await lease({ merchant });
      await store.release(leased, { called: true, nextDueInMs: WEEK_MS });
    }
    expect(await store.due(2)).toEqual({ merchants: [], nextDueInMs: 86_400_000 });
    await keys.client.zadd(keys.due, '-inf', 'a');
    expect((await store.due(2)).nextDueInMs).toBeLessThanOrEqual(86_400_000);
  });
});

describeWith('redis-server', 'seats', () => {
  const sitting = (usedAgoMs: number, owner: string): string => `${Date.now() - usedAgoMs} ${owner}`;
  const near = (seat: number, distance: number): string => String((seat + distance) % 1_024);

  it('are written with who sits there, and since when', async () => {
    let seat = 0;
    const [began, ended] = await keys.during(async () => (seat = await store.seat('owner')));
    const [field, text = ''] = Object.entries(await keys.client.hgetall(keys.seats)).flat();
    expect(field).toBe(String(seat));
    const [usedAt, owner] = text.split(' ');
    expect(owner).toBe('owner');
    expect(Number(usedAt) >= began && Number(usedAt) <= ended).toBe(true);
  });

  it('beside those that are taken are the next ones, round to the first', async () => {
    const preferred = await store.seat('owner');
    await keys.client.del(keys.seats);
    const taken = Array.from({ length: 1_024 - preferred }, (_, distance) => [
      near(preferred, distance),
      sitting(1_000, `sitter-${distance}`),
    ]);
    await keys.client.hset(keys.seats, Object.fromEntries(taken) as Record<string, string>);
    expect(await store.seat('owner')).toBe(0);
    expect(await store.seat('owner')).toBe(0);
  });

  it('that were unused for a week are given on before a free one is taken, the longest unused first', async () => {
    const preferred = await store.seat('owner');
    await keys.client.del(keys.seats);
    await keys.client.hset(keys.seats, {
      [near(preferred, 0)]: sitting(WEEK_MS - WAIT_MS, 'recent'),
      [near(preferred, 1)]: sitting(WEEK_MS + WAIT_MS, 'gone'),
      [near(preferred, 2)]: sitting(WEEK_MS + HOUR_MS, 'longest gone'),
      [near(preferred, 3)]: sitting(WEEK_MS + WAIT_MS, 'gone, too'),
    });
    expect(await store.seat('owner')).toBe(Number(near(preferred, 2)));
    await keys.client.hset(keys.seats, { [near(preferred, 2)]: sitting(0, 'another') });
    expect(await store.seat('owner')).toBe(Number(near(preferred, 1)));
    for (const distance of [1, 2, 3]) {
      await keys.client.hset(keys.seats, { [near(preferred, distance)]: sitting(WEEK_MS - WAIT_MS, 'recent') });
    }
    expect(await store.seat('owner')).toBe(Number(near(preferred, 4)));
  });

  it('that cannot be read are free, as if never used', async () => {
    const preferred = await store.seat('owner');
    for (const text of ['', 'owner', `${Date.now()}`, `${Date.now()} `, 'x'.repeat(2_000), `-1 other`]) {
      await keys.client.del(keys.seats);
      await keys.client.hset(keys.seats, { [near(preferred, 0)]: text });
      expect(await store.seat('owner')).toBe(preferred);
    }
  });

  it('used in the future count as used now: the clock was set back', async () => {
    const preferred = await store.seat('owner');
    await keys.client.hset(keys.seats, { [near(preferred, 0)]: sitting(-HOUR_MS, 'other') });
    expect(await store.seat('owner')).toBe(Number(near(preferred, 1)));
  });

  it('are given anew when their key is of another type', async () => {
    const preferred = await store.seat('owner');
    await keys.client.del(keys.seats);
    await keys.client.set(keys.seats, 'x');
    expect(await store.seat('owner')).toBe(preferred);
  });
});
