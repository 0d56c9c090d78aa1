import type { ClaimRequest, Lease, SessionStore, StoredState } from '#libs/session';
import {
  aDeathReport,
  aClaim,
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
const TEN_YEARS_MS = 315_576_000_000;
/** The highest number that leaves room for those that follow. */
const MAX_GENERATION = 2 ** 53 - 2 ** 20;
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

const write = (fields: Record<string, string | number>): Promise<number> => client.hset(hashOf('shop'), fields);

const claim = (overrides: Partial<ClaimRequest> = {}): ReturnType<SessionStore['claim']> =>
  store.claim(aClaim({ owner: 'replica-2', mode: 'when_wanted', newerThan: Number.MAX_SAFE_INTEGER, ...overrides }));

const hashOf = (merchant: string): string => keys.hashOf(merchant);
const callsOf = (merchant: string): string => keys.callsOf(merchant);

const leaseOf = (merchant: string, floor = 0): Promise<Lease> => lease(store, { merchant, floor });

async function published(merchant: string, nextDueInMs = HOUR_MS): Promise<number> {
  const leased = await leaseOf(merchant);
  const session = aSession({ merchant, generation: leased.fence });
  expect(await store.publish(aPublication(session, { nextDueInMs }), leased)).toBe('published');
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
  'its moment of publication is a word': (merchant) => client.hset(hashOf(merchant), { publishedAt: 'word' }),
  'its hash is gone': (merchant) => client.del(hashOf(merchant)),
  'it has unknown fields': (merchant) => client.hset(hashOf(merchant), { '': '', later: 'version' }),
};

function numbersOf(value: string): Record<string, string> {
  const names = ['fence', 'lease', 'generation', 'publishedAt', 'failures', 'cooledDownAt', 'due', 'reportedDead'];
  return Object.fromEntries(names.map((name) => [name, value]));
}

for (const [name, damage] of Object.entries(damages))
  describeWith('redis-server', `when ${name}`, () => {
    it('every operation goes on for the merchant, and nothing changes for another', async () => {
      await published('hurt');
      const generation = await published('well', 0);
      await damage('hurt');

      const {
        states: [hurt, well],
      } = await store.read(['hurt', 'well'].map((merchant) => ({ merchant, known: 0 })));
      expect(well?.stored).toMatchObject({ kind: 'session', session: { generation } });
      expect(hurt?.dueInMs).toBeLessThanOrEqual(2 * HOUR_MS);
      await store.report('hurt', aDeathReport({ generation }));
      expect((await store.claim(aClaim({ merchant: 'well', newerThan: generation }))).kind).toBe('claimed');

      const leased = await leaseOf('hurt', 9);
      expect(leased.fence).toBeLessThan(Date.now() + HOUR_MS);
      expect(await store.release(leased, { called: true, nextDueInMs: 0, failure: aRecordedFailure() })).toBe(true);
      const next = await published('hurt');
      expect((await stateOf('hurt')).stored).toMatchObject({ kind: 'session', session: { generation: next } });
      await damage('hurt');
      const session = aSession({ merchant: 'hurt', generation: next + 1 });
      expect(await store.publish(aPublication(session))).toBe('published');
    });
  });

describeWith('redis-server', 'a record that is damaged', () => {
  it.each<[string, (generation: number) => object]>([
    ['its hash is a string', () => ({ kind: 'absent' })],
    ['every number is beyond belief', () => ({ kind: 'absent' })],
    ['its moment of publication is a word', (generation) => ({ kind: 'unopenable', generation })],
    ['its sealed session has 60 MB', (generation) => ({ kind: 'unopenable', generation })],
  ])('is that for every reader: %s', async (name, stored) => {
    const generation = await published('shop');
    await damages[name]?.('shop');
    expect((await stateOf('shop', generation)).stored).toEqual(stored(generation));
  });
});

describeWith('redis-server', 'the index of due moments', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['was deleted', () => client.del(keys.due)],
    ['is a hash', async () => void (await client.del(keys.due), await client.hset(keys.due, { a: '1' }))],
    ['lost a member', () => client.zrem(keys.due, 'shop')],
    ['has one that is too late', () => client.zadd(keys.due, '+inf', 'shop')],
  ])('is put right by whoever reads the merchants when it %s', async (_name, damage) => {
    await stateOf('shop');
    await published('resting', 2 * HOUR_MS);
    await damage();
    await stateOf('shop');
    await stateOf('resting');
    const due = await store.due(5);
    expect(due.merchants).toEqual(['shop']);
    expect(due.nextDueInMs).toBeGreaterThan(HOUR_MS);
  });

  it('has what is due according to a clock that was set back', async () => {
    await published('shop', 2 * HOUR_MS);
    await keys.moveMoments(HOUR_MS);
    expect((await stateOf('shop')).dueInMs).toBe(0);
    expect((await store.due(5)).merchants).toEqual(['shop']);
  });

  it('keeps what nobody has read for less than an hour, and what a replica reads for as long as it does', async () => {
    const overdue = async (merchant: string, forMs: number): Promise<void> => {
      await stateOf(merchant);
      await client.zadd(keys.due, Date.now() - forMs, merchant);
    };
    await overdue('recent', HOUR_MS / 4);
    await overdue('left', HOUR_MS + 1_000);
    await overdue('served', HOUR_MS + 1_000);
    await stateOf('served');
    expect(await store.due(1)).toEqual({ merchants: ['recent'], nextDueInMs: 0 });
    expect((await store.due(5)).merchants).toEqual(['recent', 'served']);
    expect(await client.zcard(keys.due)).toBe(2);
    await client.del(keys.due);
    await overdue('left', HOUR_MS + 1_000);
    expect(await store.due(5)).toEqual({ merchants: [] });
  });

  it('lists no name of more than 512 bytes, and says how soon the next is due up to a day', async () => {
    const [longest, tooLong] = ['x'.repeat(512), 'y'.repeat(513)];
    await stateOf(longest);
    await client.zadd(keys.due, Date.now() - 1_000, tooLong, '+inf', 'later');
    expect(await store.due(5)).toEqual({ merchants: [longest], nextDueInMs: 86_400_000 });
  });

  it('lists its merchants among 200 000 members that are none of ours', async () => {
    await stateOf('shop');
    for (let start = 0; start < 200_000; start += 5_000) {
      const members = Array.from({ length: 5_000 }, (_, index) => [
        ...[index % 7 === 0 ? '+inf' : String(start + index), `foreign-${start + index}`],
      ]);
      await client.call('ZADD', keys.due, ...members.flat());
    }
    await client.zadd(keys.due, '-inf', 'x'.repeat(1_000_000));
    expect(await store.due(5)).toEqual({ merchants: ['shop'], nextDueInMs: 86_400_000 });
  });
});

describeWith('redis-server', 'a number', () => {
  it.each<[known: number, generation: number, isBelieved: boolean]>([
    [4e15, 4e15 + TEN_YEARS_MS, true],
    [4e15, 4e15 + TEN_YEARS_MS + 1, false],
    [MAX_GENERATION - 2, MAX_GENERATION, true],
    [MAX_GENERATION - 2, MAX_GENERATION + 1, false],
    [Number.MAX_SAFE_INTEGER, MAX_GENERATION, true],
    [Number.MAX_SAFE_INTEGER, MAX_GENERATION + 1, false],
  ])('is believed up to ten years ahead of what is known, and to a last one: of %d, %d: %s', async (...row) => {
    const [known, generation, isBelieved] = row;
    await write({ generation });
    expect((await stateOf('shop', known)).stored).toEqual(
      isBelieved ? { kind: 'unopenable', generation } : { kind: 'absent' },
    );
  });

  it.each(['', '-5', '+5', '5.0', '1e3', '0x10', ' 5', '5 ', '5\n5', 'five', '5'.repeat(1_025)])(
    'is written in digits and nothing else, and not in: %j',
    async (text) => {
      await write({ generation: text, sealed: 'x' });
      expect((await stateOf('shop')).stored).toEqual({ kind: 'absent' });
    },
  );

  it('counts as a floor up to the last, and not beyond it', async () => {
    expect(await leaseOf('last', MAX_GENERATION)).toMatchObject({
      fence: MAX_GENERATION + 1,
    });
    const { fence } = await leaseOf('beyond', MAX_GENERATION + 1);
    expect(Math.abs(fence - Date.now())).toBeLessThan(HOUR_MS);
  });
});

describeWith('redis-server', 'a text', () => {
  const failureOf = (bytes: number): string => {
    const failure = JSON.stringify({ kind: 'refused', at: Date.now() });
    return `${failure}${' '.repeat(bytes - failure.length)}`;
  };

  it('is looked at up to 64 KiB', async () => {
    await write({ failure: failureOf(65_536) });
    expect((await stateOf('shop')).failure).toMatchObject({ kind: 'refused' });
    await write({ failure: failureOf(65_537) });
    expect((await stateOf('shop')).failure).toBeUndefined();
    await write({ sealed: 'x'.repeat(65_537) });
    expect(await stateOf('shop')).not.toHaveProperty('failure');
  });

  it('that names somebody is looked at up to 1 KiB', async () => {
    const leased = { fence: 4, lease: `${Date.now()} ${HOUR_MS}` };
    await write({ ...leased, owner: 'x'.repeat(1_024) });
    expect((await claim()).kind).toBe('held');
    await write({ ...leased, owner: 'x'.repeat(1_025) });
    expect((await claim()).kind).toBe('claimed');
  });
});

describeWith('redis-server', 'a moment', () => {
  it.each(['', 'soon', '5', `${Date.now()}`, `${Date.now()} -5`, `${Date.now()} 5 5`, ` ${Date.now()} 5000`])(
    'is two numbers, and is none in: %j',
    async (text) => {
      await write({ fence: 4, owner: 'replica-1', lease: text, due: text });
      expect((await claim({ mode: 'when_due' })).kind).toBe('claimed');
    },
  );
});

describeWith('redis-server', 'a report that a session is dead', () => {
  it('is read where it can be told of which and since when', async () => {
    const { fence: generation } = await leaseOf('shop');
    const said = async (reportedDead: string): Promise<unknown> => {
      await write({ generation, sealed: 'text', publishedAt: 5, reportedDead });
      return (await stateOf('shop')).reportedDead;
    };
    const ageMs = expect.any(Number) as number;
    expect(await said(`${generation} 9 0`)).toEqual({ generation, ageMs, diedEarly: false });
    expect(await said(`${generation} 9 1`)).toEqual({ generation, ageMs, diedEarly: true });
    const ofOther = [`${generation - 1} 9 0`, 'x 9 0', ''];
    const rests = [
      '',
      ' 9',
      ' x 0',
      ' -1 0',
      ' 9 0 ',
      ' 9  0',
      ' 9 2',
      ` ${Date.now() * 2} 0`,
      ` ${'9'.repeat(1_024)} 0`,
    ];
    const strange = [...ofOther, ...rests.map((rest) => `${generation}${rest}`)];
    for (const text of strange) expect([text, await said(text)]).toEqual([text, undefined]);
  });
});

describeWith('redis-server', 'calls', () => {
  it('of another type, or more than any budget allows, are not counted', async () => {
    await client.eval(
      "for i = 1, 10001 do redis.call('ZADD', KEYS[1], ARGV[1], i) end return 1",
      1,
      callsOf('shop'),
      String(Date.now()),
    );
    const leased = await leaseOf('shop');
    expect(await client.zcard(callsOf('shop'))).toBe(1);
    await client.del(callsOf('shop'));
    await client.set(callsOf('shop'), 'x');
    expect(await store.release(leased, { called: false, nextDueInMs: 0 })).toBe(true);
    expect(await client.exists(callsOf('shop'))).toBe(0);
  });
});
