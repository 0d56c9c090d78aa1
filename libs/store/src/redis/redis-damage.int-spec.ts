import type { Lease, SessionStore, StoredState } from '#libs/session';
import {
  aBudget,
  aClaim,
  anOffer,
  aPublication,
  aRecordedFailure,
  aSession,
  describeWith,
  lease,
  PATIENT_REDIS,
  RedisProcess,
  stateOf as stateIn,
} from '#libs/testing';
import type { KeysInRedis } from './redis-keys-fixture.js';
import { type OpenedStore, serverWithStores } from './redis-store-fixture.js';

const HOUR_MS = 3_600_000;
/** What a malicious writer would choose: the next number is the same number. */
const LAST_SAFE = String(2 ** 53 - 1);

const fresh = serverWithStores('damage', { start: () => RedisProcess.start(), timeouts: PATIENT_REDIS });

let keys: KeysInRedis;
let client: KeysInRedis['client'];
let store: SessionStore;
let said: OpenedStore['said'];

beforeEach(async () => {
  ({ keys, store, said } = await fresh());
  client = keys.client;
});
// Nothing in a merchant's keys counts as a failure of the store.
afterEach(() => {
  expect(said()).toEqual(['answers']);
});

const hashOf = (merchant: string): string => keys.hashOf(merchant);
const callsOf = (merchant: string): string => keys.callsOf(merchant);

const leaseOf = (merchant: string, floor = 0): Promise<Lease> => lease(store, { merchant, floor });

async function published(merchant: string, nextDueInMs = HOUR_MS): Promise<number> {
  const leased = await leaseOf(merchant);
  const session = aSession({ merchant, generation: leased.fence });
  expect(await store.publish(leased, aPublication(session, { nextDueInMs }))).toBe('published');
  return leased.fence;
}

const stateOf = (merchant: string, known = 0): Promise<StoredState> => stateIn(store, merchant, known);

const damages: Record<string, (merchant: string) => Promise<unknown>> = {
  'its hash is a string': async (merchant) => {
    await client.del(hashOf(merchant));
    await client.set(hashOf(merchant), 'x');
  },
  'its calls are a list': async (merchant) => {
    await client.del(callsOf(merchant));
    await client.lpush(callsOf(merchant), 'x');
  },
  'the due set is a string': async () => {
    await client.del(keys.due);
    await client.set(keys.due, 'x');
  },
  'every number is a word': (merchant) => client.hset(hashOf(merchant), numbersOf('word')),
  'every number is negative': (merchant) => client.hset(hashOf(merchant), numbersOf('-5')),
  'every number is infinite': (merchant) => client.hset(hashOf(merchant), numbersOf('inf')),
  'every number is beyond belief': (merchant) => client.hset(hashOf(merchant), numbersOf(LAST_SAFE)),
  'every number has a megabyte of digits': (merchant) =>
    client.hset(hashOf(merchant), numbersOf('9'.repeat(1_000_000))),
  'its sealed session has 60 MB': (merchant) => client.hset(hashOf(merchant), { sealed: 'x'.repeat(60_000_000) }),
  'its failure has 60 MB': (merchant) => client.hset(hashOf(merchant), { failure: 'x'.repeat(60_000_000) }),
  'its owner has a megabyte': (merchant) => client.hset(hashOf(merchant), { owner: 'x'.repeat(1_000_000) }),
  'its due moment is infinite': (merchant) => client.zadd(keys.due, '+inf', merchant),
  'its hash is gone': (merchant) => client.del(hashOf(merchant)),
  'it has unknown fields': (merchant) => client.hset(hashOf(merchant), { '': '', later: 'version' }),
};

function numbersOf(value: string): Record<string, string> {
  const names = [
    ...['fence', 'leaseEndsAt', 'leaseMs', 'leaseCools', 'generation', 'publishedAt'],
    ...['failures', 'cooledDownAt', 'dueAt', 'dueMs', 'dueFence', 'contested'],
  ];
  return Object.fromEntries(names.map((name) => [name, value]));
}

for (const [name, damage] of Object.entries(damages))
  describeWith('redis-server', `when ${name}`, () => {
    it('every operation goes on for the merchant, and nothing changes for another', async () => {
      await store.enrol(['hurt', 'well']);
      await published('hurt');
      const generation = await published('well', 0);
      const before = await stateOf('well');
      await damage('hurt');

      const {
        states: [hurt, well],
      } = await store.read(['hurt', 'well'].map((merchant) => ({ merchant, known: 0 })));
      expect(well?.stored).toMatchObject({ kind: 'session', session: { generation } });
      expect(well?.dueMark).toBe(before.dueMark);
      expect(hurt?.dueInMs ?? 0).toBeLessThanOrEqual(2 * HOUR_MS);
      await store.enrol(['hurt', 'well']);
      expect((await store.due(10)).merchants).toContain('well');
      const other = await store.claim(aClaim({ merchant: 'well', newerThan: generation }));
      expect(other.kind).toBe('claimed');

      const leased = await leaseOf('hurt', 9);
      expect(leased.fence % 2).toBe(0);
      expect(leased.fence).toBeLessThan(Date.now() + HOUR_MS);
      expect(await store.release(leased, { called: true, nextDueInMs: 0, failure: aRecordedFailure() })).toBe(true);
      const next = await published('hurt');
      expect((await stateOf('hurt')).stored).toMatchObject({ kind: 'session', session: { generation: next } });
      const session = aSession({ merchant: 'hurt', generation: next + 1 });
      expect(await store.offer(anOffer(session, { known: next }))).toMatchObject({ kind: 'taken', isContested: false });
    });
  });

describeWith('redis-server', 'a record that is damaged', () => {
  it.each([
    ['its hash is a string', 0],
    ['every number is beyond belief', 0],
    ['its sealed session has 60 MB', undefined],
  ])('is unopenable for every reader: %s', async (name, believed) => {
    const generation = await published('shop');
    await damages[name]?.('shop');
    expect((await stateOf('shop', generation)).stored).toEqual({
      kind: 'unopenable',
      generation: believed ?? generation,
    });
  });

  it('is mended by the next offer of the same session', async () => {
    const generation = await published('shop');
    await client.hset(hashOf('shop'), { sealed: 'not.a.sealed.record.x' });
    expect((await stateOf('shop')).stored).toEqual({ kind: 'unopenable', generation });
    const session = aSession({ generation });
    expect(await store.offer(anOffer(session, { known: 0 }))).toMatchObject({ kind: 'taken', isContested: false });
    expect((await stateOf('shop')).stored).toMatchObject({ kind: 'session', session: { generation } });
  });

  it('shows no failure that this store cannot have written', async () => {
    const at = Date.now();
    const failures: [object, object | undefined][] = [
      [
        { kind: 'refused', msgCode: 'b_ok', at },
        { kind: 'refused', msgCode: 'b_ok', at },
      ],
      [
        { kind: 'refused', msgCode: '<script>', at },
        { kind: 'refused', at },
      ],
      [
        { kind: 'refused', msgCode: 'x'.repeat(65), at },
        { kind: 'refused', at },
      ],
      [{ kind: 'new', at }, undefined],
      [{ kind: 'refused', at: 8.64e15 }, undefined],
    ];
    for (const [failure, shown] of failures) {
      await client.hset(hashOf('shop'), { failure: JSON.stringify(failure) });
      expect((await stateOf('shop')).failure).toEqual(shown);
    }
  });
});

describeWith('redis-server', 'the index of due moments', () => {
  it('lists its merchants among 200 000 members that are none of ours', async () => {
    await store.enrol(['shop']);
    for (let start = 0; start < 200_000; start += 5_000) {
      const members = Array.from({ length: 5_000 }, (_, index) => [
        ...[index % 7 === 0 ? '+inf' : String(start + index), `foreign-${start + index}`],
      ]);
      await client.call('ZADD', keys.due, ...members.flat());
    }
    await client.zadd(keys.due, '-inf', 'x'.repeat(1_000_000));
    let looks = 0;
    for (let due = await store.due(5); !due.merchants.includes('shop'); due = await store.due(5)) {
      expect(due.nextDueInMs).toBeGreaterThanOrEqual(0);
      expect((looks += 1)).toBeLessThan(20);
    }
    expect((await store.due(5)).merchants).toEqual(['shop']);
    expect((await store.due(5)).nextDueInMs).toBeLessThanOrEqual(86_400_000);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['was deleted', () => client.del(keys.due)],
    ['is a hash', async () => void (await client.del(keys.due), await client.hset(keys.due, { a: '1' }))],
    ['lost a member', () => client.zrem(keys.due, 'shop')],
  ])('is made anew from what the merchants say when it %s', async (_name, damage) => {
    await store.enrol(['shop', 'resting']);
    await published('resting', 2 * HOUR_MS);
    await damage();
    expect((await store.due(5)).merchants).toEqual(['shop']);
    expect((await store.due(5)).nextDueInMs).toBeGreaterThan(HOUR_MS);
  });

  it('makes nothing due in a store that was emptied: the sessions live on at the replicas', async () => {
    await store.enrol(['shop']);
    await published('shop', HOUR_MS);
    await keys.deleteAll();
    expect(await store.due(5)).toEqual({ merchants: [] });
  });

  it('does not list a merchant that its record says is not due', async () => {
    await store.enrol(['shop']);
    await published('shop', HOUR_MS);
    await client.zadd(keys.due, 0, 'shop');
    expect((await store.due(5)).merchants).toEqual([]);
    expect(Number(await client.zscore(keys.due, 'shop'))).toBeGreaterThan(Date.now());
  });
});

describeWith('redis-server', 'when the clock of the store was set back by an hour', () => {
  const ahead = async (merchant: string, ...names: string[]): Promise<void> => {
    for (const name of names) await client.hincrby(hashOf(merchant), name, HOUR_MS);
  };
  const again = (overrides: object): Promise<unknown> =>
    store.claim(aClaim({ owner: 'replica-2', newerThan: Number.MAX_SAFE_INTEGER, leaseMs: 10_000, ...overrides }));

  it('a lease lasts no longer than its length, and not for a replica that has watched it for that time', async () => {
    await leaseOf('shop');
    await ahead('shop', 'leaseEndsAt', 'dueAt');
    const refused = await again({ mode: 'when_due' });
    expect(refused).toMatchObject({
      kind: 'held',
      retryInMs: 2 * HOUR_MS,
      mark: expect.stringMatching(/^lease:/) as string,
    });
    const { mark } = refused as { mark: string };
    expect(await again({ mode: 'when_due', watched: `${mark}0` })).toMatchObject({ kind: 'held' });
    expect(await again({ mode: 'when_due', watched: mark })).toMatchObject({ kind: 'claimed' });
  });

  it('a due moment is no further off than it was set, and over for a replica that has watched it', async () => {
    const generation = await published('shop', 20_000);
    await ahead('shop', 'dueAt', 'publishedAt');
    const state = await stateOf('shop');
    expect(state).toMatchObject({ dueInMs: 20_000, stored: { kind: 'session', session: { generation } } });
    expect(state.stored).toMatchObject({ ageMs: expect.any(Number) as number });
    expect((state.stored as { ageMs: number }).ageMs).toBeLessThan(-HOUR_MS / 2);
    expect(await again({ mode: 'when_due' })).toEqual({ kind: 'not_due', retryInMs: 20_000, mark: state.dueMark });
    expect(await again({ mode: 'when_due', watched: state.dueMark })).toMatchObject({ kind: 'claimed' });
  });

  it('a back-off is over for a replica that has watched it, and for one that knows its reason to be gone', async () => {
    await store.release(await leaseOf('shop'), { called: true, nextDueInMs: 20_000, failure: aRecordedFailure() });
    await ahead('shop', 'dueAt');
    expect(await again({ mode: 'when_wanted' })).toMatchObject({ kind: 'backing_off', retryInMs: 20_000 });
    expect(await again({ mode: 'when_wanted', ignoresBackOff: true })).toMatchObject({ kind: 'claimed' });
  });

  it('a cool-down is over for a replica that has watched it, and calls count from now', async () => {
    const request = aClaim({ mode: 'when_wanted', coolDownMs: 5_000, newerThan: Number.MAX_SAFE_INTEGER });
    const first = await store.claim(request);
    if (first.kind !== 'claimed') throw new Error('must be granted');
    await store.release(first.lease, { called: true, nextDueInMs: 0 });
    await ahead('shop', 'cooledDownAt');
    const refused = await again({ mode: 'when_wanted', coolDownMs: 5_000 });
    expect(refused).toMatchObject({ kind: 'cooled_down', retryInMs: 5_000 });
    const { mark } = refused as { mark: string };
    const [call = ''] = await client.zrange(callsOf('shop'), '0', '-1');
    await client.zadd(callsOf('shop'), String(Date.now() + HOUR_MS), call);
    const budget = aBudget({ calls: 1, perMs: 30_000 });
    const spent = await again({ mode: 'when_wanted', coolDownMs: 5_000, watched: mark, budget });
    expect(spent).toMatchObject({ kind: 'budget_exhausted', retryInMs: 30_000 });
    expect(Number(await client.zscore(callsOf('shop'), call))).toBeLessThanOrEqual(Date.now());
    expect(await again({ mode: 'when_wanted', coolDownMs: 5_000, watched: mark })).toMatchObject({ kind: 'claimed' });
  });
});

describeWith('redis-server', 'calls', () => {
  it('are two when two are made under one number, in a store that forgot the first', async () => {
    const floor = Date.now() + HOUR_MS;
    const first = await leaseOf('shop', floor);
    await client.del(hashOf('shop'));
    const second = await leaseOf('shop', floor);
    expect(second.fence).toBe(first.fence);
    expect(await client.zcard(callsOf('shop'))).toBe(2);
    expect(await store.release(second, { called: false, nextDueInMs: 0 })).toBe(true);
    expect(await client.zcard(callsOf('shop'))).toBe(1);
  });

  it('are not counted when there are more than any budget allows', async () => {
    await client.eval(
      "for i = 1, 10001 do redis.call('ZADD', KEYS[1], ARGV[1], i) end return 1",
      1,
      callsOf('shop'),
      String(Date.now()),
    );
    expect(await leaseOf('shop')).toMatchObject({ merchant: 'shop' });
  });
});

describeWith('redis-server', 'reading what the reader has already', () => {
  it('sends no session for any of 200 merchants', async () => {
    const merchants = Array.from({ length: 200 }, (_, index) => `merchant-${index}`);
    const wanted = await Promise.all(
      merchants.map(async (merchant) => ({ merchant, known: await published(merchant) })),
    );
    const sentBytes = async (): Promise<number> =>
      Number(/total_net_output_bytes:(\d+)/.exec(await client.info('stats'))?.[1]);
    const before = await sentBytes();
    const { states: answers } = await store.read(wanted);
    const sent = (await sentBytes()) - before;
    expect(answers.map(({ stored }) => stored.kind)).toEqual(wanted.map(() => 'unchanged'));
    expect(sent / wanted.length).toBeLessThan(200);
    const { states: whole } = await store.read(wanted.map(({ merchant }) => ({ merchant, known: 0 })));
    expect(new Set(whole.map(({ stored }) => stored.kind))).toEqual(new Set(['session']));
  });
});

describeWith('redis-server', 'seats', () => {
  it('are one each, and the same again even after the store was emptied', async () => {
    const owners = Array.from({ length: 100 }, (_, index) => `owner-${index}`);
    const seats = await Promise.all(owners.map((owner) => store.seat(owner)));
    expect(new Set(seats).size).toBe(100);
    expect(await Promise.all(owners.map((owner) => store.seat(owner)))).toEqual(seats);
    for (const seat of seats) expect(seat >= 0 && seat < 1_024).toBe(true);
  });

  it('are given on after a week without use, or when there are no others: the longest unused first', async () => {
    // Read once: if the clock ticked between two seats, they would have been unused for equally long.
    const lastUsed = Date.now() - 10_000;
    const taken = Object.fromEntries(
      Array.from({ length: 1_024 }, (_, seat) => [String(seat), `${lastUsed - seat} sitter-${seat}`]),
    );
    await client.hset(keys.seats, taken);
    expect(await store.seat('newcomer')).toBe(1_023);
    expect(await store.seat('sitter-5')).toBe(5);
    await client.hset(keys.seats, { 7: 'damaged' });
    expect(await store.seat('second newcomer')).toBe(7);
    expect(await store.seat('newcomer')).toBe(1_023);
  });
});
