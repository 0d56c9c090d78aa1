import type { ClaimRequest, Lease, SessionStore, StoredState } from '#libs/session';
import {
  aBudget,
  aClaim,
  aDeathReport,
  anOffer,
  aPublication,
  aRecordedFailure,
  aSession,
  describeWith,
  eventually,
  lease,
  PATIENT_REDIS,
  RedisProcess,
  stateOf as stateIn,
} from '#libs/testing';
import { encodeFailure } from './announcement-codec.js';
import type { KeysInRedis } from './redis-keys-fixture.js';
import { defineScript } from './redis-script.js';
import { serverWithStores } from './redis-store-fixture.js';
import { claimScript } from './scripts/claim.lua.js';
import { readScript } from './scripts/read.lua.js';
import { rmSync } from 'node:fs';

const TEN_YEARS_MS = 315_576_000_000;
/** Longer than a test may take. */
const SLACK_MS = 600_000;
const LATER_MS = 7_200_000;
/** The highest number that leaves room for those that follow. */
const MAX_GENERATION = 2 ** 53 - 2 ** 20;
const fresh = serverWithStores('belief', { start: () => RedisProcess.start(), timeouts: PATIENT_REDIS });

let keys: KeysInRedis;
let store: SessionStore;

beforeEach(async () => {
  ({ keys, store } = await fresh());
  await setTo('maxmemory', '0');
  await setTo('min-replicas-to-write', '0');
});

const write = (fields: Record<string, string | number>): Promise<number> =>
  keys.client.hset(keys.hashOf('shop'), fields);

const claim = (overrides: Partial<ClaimRequest> = {}): ReturnType<SessionStore['claim']> =>
  store.claim(aClaim({ owner: 'replica-2', mode: 'when_wanted', newerThan: Number.MAX_SAFE_INTEGER, ...overrides }));

const stateOf = (known = 0): Promise<StoredState> => stateIn(store, 'shop', known);

/** The raw reply of read.lua: the store's interpretation of it hides differences. */
async function reply(known: number): Promise<unknown> {
  const wanted = [keys.due, keys.hashOf('shop'), 'shop', known];
  const [, state] = (await keys.client.eval(readScript.lua, 2, ...wanted)) as unknown[];
  return state;
}

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
    expect((await stateOf(known)).stored).toEqual({ kind: 'unopenable', generation: isBelieved ? generation : 0 });
  });

  it.each(['', '-5', '+5', '5.0', '1e3', '0x10', ' 5', '5 ', '5\n5', 'five', '5'.repeat(1_025)])(
    'is written in digits and nothing else, and not in: %j',
    async (text) => {
      await write({ generation: text, sealed: 'x' });
      expect((await stateOf()).stored).toEqual({ kind: 'unopenable', generation: 0 });
    },
  );

  it('counts as a floor up to the last, and not beyond it', async () => {
    expect(await lease(store, { merchant: 'last', floor: MAX_GENERATION })).toMatchObject({
      fence: MAX_GENERATION + 2,
    });
    const { fence } = await lease(store, { merchant: 'beyond', floor: MAX_GENERATION + 1 });
    expect(Math.abs(fence - Date.now())).toBeLessThan(SLACK_MS);
  });
});

describeWith('redis-server', 'a text', () => {
  const failureOf = (bytes: number): string => {
    const failure = encodeFailure({ kind: 'refused', at: Date.now() as never });
    return `${failure}${' '.repeat(bytes - failure.length)}`;
  };

  it('is looked at up to 64 KiB', async () => {
    await write({ failure: failureOf(65_536) });
    expect((await stateOf()).failure).toMatchObject({ kind: 'refused' });
    await write({ failure: failureOf(65_537) });
    expect((await stateOf()).failure).toBeUndefined();
  });

  it('that names somebody is looked at up to 1 KiB', async () => {
    const leased = { fence: 4, leaseEndsAt: Date.now() + LATER_MS };
    await write({ ...leased, owner: 'x'.repeat(1_024) });
    expect((await claim()).kind).toBe('held');
    await write({ ...leased, owner: 'x'.repeat(1_025) });
    expect((await claim()).kind).toBe('claimed');
  });
});

describeWith('redis-server', 'a lease', () => {
  it.each<[string, Record<string, string>]>([
    ['an owner', { leaseEndsAt: String(Date.now() + LATER_MS) }],
    ['an end', { owner: 'replica-1' }],
    ['an end that is a number', { owner: 'replica-1', leaseEndsAt: 'soon' }],
  ])('does not exist without %s', async (_name, fields) => {
    await write({ fence: 4, ...fields });
    expect((await claim()).kind).toBe('claimed');
  });

  it('is given back even where its call is not known, or the calls are of another type', async () => {
    const leased = { merchant: 'shop', owner: 'replica-1', fence: 4, remainingMs: 1, failures: 0 };
    const fields = { fence: 4, owner: 'replica-1', leaseEndsAt: Date.now() + LATER_MS };
    await write(fields);
    await keys.client.zadd(keys.callsOf('shop'), Date.now(), 'of another');
    expect(await store.release(leased, { called: false, nextDueInMs: 0 })).toBe(true);
    expect(await keys.client.zcard(keys.callsOf('shop'))).toBe(1);
    await write({ ...fields, leaseCall: 'of this one' });
    await keys.client.set(keys.callsOf('shop'), 'x');
    expect(await store.release(leased, { called: false, nextDueInMs: 0 })).toBe(true);
    expect(await keys.client.exists(keys.callsOf('shop'))).toBe(0);
  });

  it('is named by fence and end, and lasts no longer than it says or than is claimed', async () => {
    const leaseEndsAt = Date.now() + 3_600_000;
    await write({ fence: 4, owner: 'replica-1', leaseEndsAt });
    const mark = `lease:4:${leaseEndsAt}`;
    expect(await claim({ leaseMs: 7_000 })).toEqual({ kind: 'held', retryInMs: 7_000, mark });
    await write({ leaseMs: 9_000 });
    expect(await claim({ leaseMs: 7_000 })).toEqual({ kind: 'held', retryInMs: 9_000, mark });
  });
});

describeWith('redis-server', 'a cool-down of the future, since the clock was set back', () => {
  it('holds up a claim that carries one, however short, and no other', async () => {
    const cooledDownAt = Date.now() + 3_600_000;
    await write({ cooledDownAt });
    const mark = `cool:${cooledDownAt}`;
    expect(await claim({ coolDownMs: 1 })).toEqual({ kind: 'cooled_down', retryInMs: 1, mark });
    expect((await claim({ coolDownMs: 0 })).kind).toBe('claimed');
  });

  it('is set by a claim that carries one, however short', async () => {
    await claim({ coolDownMs: 1 });
    expect((await keys.of('shop')).hash).toMatchObject({ leaseCools: '1', cooledDownAt: expect.any(String) as string });
  });
});

describeWith('redis-server', 'calls', () => {
  const made = async (...agoMs: number[]): Promise<number[]> => {
    const nowMs = Date.now();
    for (const ago of agoMs) await keys.client.zadd(keys.callsOf('shop'), nowMs - ago, `call-${ago}`);
    return agoMs.map((ago) => nowMs - ago);
  };

  it('beyond the budget are waited for until so many have left as there are too many', async () => {
    const [, second, newest] = await made(3 * SLACK_MS, 2 * SLACK_MS, SLACK_MS);
    for (const [calls, last] of [
      [1, newest],
      [2, second],
    ] as const) {
      const refused = await claim({ budget: aBudget({ calls, perMs: LATER_MS }) });
      expect(refused).toMatchObject({ kind: 'budget_exhausted', mark: `budget:${last}:${LATER_MS}` });
      const endsInMs = Number(last) + LATER_MS - Date.now();
      const { retryInMs } = refused as { retryInMs: number };
      expect(retryInMs >= endsInMs && retryInMs <= endsInMs + SLACK_MS).toBe(true);
    }
  });

  it('are waited for a whole window where there may be none', async () => {
    const refused = await claim({ budget: aBudget({ calls: 0, perMs: 60_000 }) });
    expect(refused).toMatchObject({ kind: 'budget_exhausted', retryInMs: 60_000 });
  });

  it('grow by one even where the call of this number and owner is there already', async () => {
    // Two calls with the same name as the one that the claim is about to count.
    const twice = `for turn = 0, 1 do
      redis.call('ZADD', KEYS[2], whole(now), whole(ARGV[6] + 2) .. ':' .. ARGV[2] .. ':' .. turn)
    end
    `;
    const { lua } = defineScript('again', twice + claimScript.body);
    const floor = 2 * Math.ceil(Date.now() / 2) + 3_600_000;
    const wanted = [keys.hashOf('shop'), keys.callsOf('shop'), keys.due];
    const request = ['shop', 'replica-2', 60_000, 'when_wanted', 0, floor, 0, '', 0, 20, 60_000];
    const [kind, fence] = (await keys.client.eval(lua, 3, ...wanted, ...request)) as unknown[];
    expect([kind, fence]).toEqual(['claimed', String(floor + 2)]);
    const { hash, calls } = await keys.of('shop');
    expect(calls).toHaveLength(3);
    expect(hash['leaseCall']).toBe(`${floor + 2}:replica-2:2`);
  });
});

describeWith('redis-server', 'what a read is answered', () => {
  /** Neither a due moment nor a condemned session. If none is reported dead, nothing follows these. */
  const nothing = ['', '', ''];

  it.each<[string, () => Promise<unknown>]>([
    ['a session without a generation', () => write({ sealed: 'x' })],
    ['a generation that is not a number', () => write({ generation: 'x' })],
    ['a key of another type', () => keys.client.set(keys.hashOf('shop'), 'x')],
  ])('says that there is something, where it finds %s', async (_name, damage) => {
    await damage();
    expect(await reply(0)).toEqual(['unopenable', '0', '', '', '', ...nothing]);
  });

  it('says that there is nothing, and why', async () => {
    expect(await reply(0)).toEqual(['absent', '0', '', '', '', ...nothing]);
    await write({ failure: 'why' });
    expect(await reply(7)).toEqual(['absent', '0', '', '', 'why', ...nothing]);
  });

  it.each<[string, Record<string, string>]>([
    ['sealed text', { publishedAt: '5' }],
    ['moment of its answer', { sealed: 'text' }],
    ['moment of its answer that is a number', { sealed: 'text', publishedAt: 'soon' }],
  ])('tells the generation of a session without a %s', async (_name, fields) => {
    await write({ generation: 7, ...fields });
    for (const known of [0, 7]) expect(await reply(known)).toEqual(['unopenable', '7', '', '', '', ...nothing]);
  });

  it('is the session, or that it is the one that is known, with its age and its due moment', async () => {
    await write({ generation: 7, sealed: 'text', publishedAt: 5, failure: 'why', dueAt: 9, dueMs: 0, dueFence: '' });
    const age = expect.stringMatching(/^1[789]\d{11}$/) as string;
    const due = [expect.stringMatching(/^-1[789]\d{11}$/), 'due:9:'];
    expect(await reply(6)).toEqual(['session', '7', 'text', age, 'why', ...due, '']);
    expect(await reply(7)).toEqual(['unchanged', '7', '', age, 'why', ...due, '']);
    await write({ condemned: 6 });
    expect(await reply(6)).toEqual(['session', '7', 'text', age, 'why', ...due, '']);
    await write({ condemned: 7 });
    expect(await reply(7)).toEqual(['unchanged', '7', '', age, 'why', ...due, '7']);
  });

  it('is that consumers report the session dead, where it can be told of which and since when', async () => {
    const said = async (reportedDead: string): Promise<unknown> => {
      await write({ generation: 7, sealed: 'text', publishedAt: 5, reportedDead });
      return ((await reply(7)) as unknown[]).slice(8);
    };
    const age = expect.stringMatching(/^1[789]\d{11}$/) as string;
    expect(await said('7 9 - 0')).toEqual([age, '-', '0']);
    expect(await said('7 9 budget 60000')).toEqual([age, 'budget', '60000']);
    const ahead = Date.now() + 2 * TEN_YEARS_MS;
    const strange = ['', '7', '6 9 - 0', '7 x - 0', '7 9 - -1', '7 9 - 0 ', '7 9  0', 'x 9 - 0', `7 ${ahead} - 0`];
    for (const text of [...strange, `7 9 ${'x'.repeat(1_024)} 0`]) expect([text, await said(text)]).toEqual([text, []]);
  });

  it.each(['moon', '-'])(
    'names nothing that holds up a newer session which this version does not know: %s',
    async (by) => {
      await write({ generation: 7, reportedDead: `7 9 ${by} 5` });
      expect((await stateOf()).reportedDead).toEqual({ generation: 7, ageMs: expect.any(Number) as number });
    },
  );
});

const ANY_NUMBER = expect.any(Number) as number;

const setTo = async (setting: string, value: string): Promise<void> =>
  void (await keys.client.config('SET', setting, value));
const fill = (): Promise<void> => setTo('maxmemory', '1');
const giveMemory = (): Promise<void> => setTo('maxmemory', '0');
/** Redis then accepts writes only while enough replicas follow it, and none does. */
const demandReplicas = (): Promise<void> => setTo('min-replicas-to-write', '1');
const refusedWith = (code: string): object => ({
  code: 'store_refused',
  detail: expect.stringContaining(code) as string,
});

/** Refused as a whole: everything that the merchant has in Redis is as before. */
async function expectRefused(operation: () => Promise<unknown>, code = 'OOM'): Promise<void> {
  const before = { ...(await keys.of('shop')), callsEndInMs: ANY_NUMBER };
  await expect(operation()).rejects.toMatchObject(refusedWith(code));
  expect(await keys.of('shop')).toEqual(before);
}

/** A merchant that has had everything once: a call that counts, a failure, and currently no lease. */
async function withHistory(): Promise<Lease> {
  const leased = await lease(store);
  await store.release(leased, { called: true, nextDueInMs: 0, failure: aRecordedFailure() });
  return leased;
}

describeWith('redis-server', 'while Redis is full, what precedes a call is refused, and changes nothing', () => {
  it.each<readonly [who: string, given: () => Promise<unknown>, asked: Parameters<typeof aClaim>[0]]>([
    ['for a merchant that nobody knows', () => Promise.resolve(), {}],
    ['after calls that count, whose oldest are forgotten at this moment', withHistory, { mode: 'when_wanted' }],
    ['that a person wants', withHistory, { mode: 'when_wanted', ignoresBackOff: true, newerThan: 1 }],
    ['of the replica that has the lease: the answer to its claim may have been lost', () => lease(store), {}],
    ['of another replica', () => lease(store, { owner: 'replica-2' }), { mode: 'when_wanted' }],
    ['over a hash that is none of ours', () => keys.client.set(keys.hashOf('shop'), 'a text'), {}],
  ])('a claim %s', async (_who, given, asked) => {
    await given();
    await fill();
    await expect(store.claim(aClaim(asked))).rejects.toMatchObject(refusedWith('claim: OOM'));
    await giveMemory();
    expect((await keys.client.zrange(keys.callsOf('shop'), '0', '-1')).length).toBeLessThanOrEqual(1);
  });

  it('a claim leaves the merchant as it was, and is granted once there is memory', async () => {
    await withHistory();
    await fill();
    await expectRefused(() => lease(store, { mode: 'when_wanted', ignoresBackOff: true }));
    await giveMemory();
    expect((await lease(store)).failures).toBe(1);
  });

  it('a claim over an index that is none of ours', async () => {
    await keys.client.set(keys.due, 'a text');
    await fill();
    await expect(lease(store)).rejects.toMatchObject(refusedWith('claim: OOM'));
    expect(await keys.client.type(keys.due)).toBe('string');
    await giveMemory();
    expect((await lease(store)).owner).toBe('replica-1');
  });

  it('an enrolment', async () => {
    await fill();
    await expectRefused(() => store.enrol(['shop']));
  });

  it('a seat', async () => {
    await fill();
    await expect(store.seat('replica-1')).rejects.toMatchObject(refusedWith('seat: OOM'));
    expect(await keys.client.exists(keys.seats)).toBe(0);
  });
});

describeWith('redis-server', 'while Redis is full, what tells of a call that was made is written', () => {
  it('a publication, which other replicas read', async () => {
    const leased = await lease(store);
    await fill();
    const publication = aPublication(aSession({ generation: leased.fence }));
    expect(await store.publish(leased, publication)).toBe('published');
    const { states } = await store.read([{ merchant: 'shop', known: 0 }]);
    expect(states).toMatchObject([{ stored: { kind: 'session', session: { generation: leased.fence } } }]);
    expect((await keys.of('shop')).hash).not.toHaveProperty('owner');
  });

  it('an offer, and the same once more', async () => {
    await fill();
    const offer = anOffer(aSession({ generation: 4_711 }), { known: 4_710 });
    expect(await store.offer(offer)).toMatchObject({ kind: 'taken', generation: 4_711 });
    await keys.client.hdel(keys.hashOf('shop'), 'sealed');
    expect(await store.offer(offer)).toMatchObject({ kind: 'taken', generation: 4_711 });
    expect((await keys.of('shop')).hash).toHaveProperty('sealed');
  });

  it('the failure of an attempt, and when the next is due', async () => {
    const leased = await lease(store);
    await fill();
    const failure = aRecordedFailure();
    expect(await store.release(leased, { called: true, nextDueInMs: 40_000, failure })).toBe(true);
    expect((await keys.of('shop')).hash).toMatchObject({ failures: '1', dueMs: '40000' });
  });

  it('that a lease was not used, with its call and its cool-down', async () => {
    const leased = await lease(store, { coolDownMs: 5_000 });
    await fill();
    expect(await store.release(leased, { called: false, nextDueInMs: 0 })).toBe(true);
    const { hash, calls } = await keys.of('shop');
    expect(hash).not.toHaveProperty('cooledDownAt');
    expect(calls).toEqual([]);
  });

  it('that a session is dead, as this replica found it and as consumers report it', async () => {
    const { generation } = aSession({ generation: 4_711 });
    await store.offer(anOffer(aSession({ generation }), { known: 4_710 }));
    await fill();
    expect(await store.condemn('shop', generation)).toBe(true);
    expect(await store.reportDead('shop', aDeathReport({ generation }))).toBe(true);
    expect((await keys.of('shop')).hash).toMatchObject({
      condemned: '4711',
      reportedDead: expect.stringMatching(/^4711 /) as string,
    });
  });
});

describeWith('redis-server', 'while Redis is full, it is looked at as ever', () => {
  it('for what is due: the index is put right, and a claim is what is refused', async () => {
    await store.enrol(['shop', 'other']);
    await store.release(await lease(store), { called: true, nextDueInMs: LATER_MS });
    await keys.client.zadd(keys.due, 1, 'shop');
    await fill();
    const { merchants } = await store.due(5);
    expect(merchants).toEqual(['other']);
    expect((await keys.of('shop')).dueAtMs).toBeGreaterThan(60_000);
  });
});

describeWith('redis-server', 'while Redis takes no writes for another reason', () => {
  it('too few replicas follow it: no lease is granted, not even again, and nothing is half written', async () => {
    await withHistory();
    await demandReplicas();
    await expectRefused(() => lease(store, { mode: 'when_wanted', ignoresBackOff: true }), 'NOREPLICAS');
    await setTo('min-replicas-to-write', '0');
    const leased = await lease(store);
    await demandReplicas();
    await expectRefused(() => lease(store), 'NOREPLICAS');
    const publication = aPublication(aSession({ generation: leased.fence }));
    await expectRefused(() => store.publish(leased, publication), 'NOREPLICAS');
    await expectRefused(() => store.release(leased, { called: false, nextDueInMs: 0 }), 'NOREPLICAS');
    await setTo('min-replicas-to-write', '0');
    expect(await store.publish(leased, publication)).toBe('published');
  });
});

describeWith('redis-server', 'while Redis cannot save', () => {
  let folder = '';
  const args = ({ dir }: { readonly dir: string }): readonly string[] => [
    '--save',
    '3600',
    '1',
    '--dir',
    (folder = dir),
  ];
  const saving = serverWithStores('saving', { start: () => RedisProcess.start({ args }), timeouts: PATIENT_REDIS });

  it('no lease is granted, not even again, and nothing is half written', async () => {
    ({ keys, store } = await saving());
    const leased = await lease(store);
    rmSync(folder, { recursive: true });
    await keys.client.bgsave();
    await eventually(async () => (await keys.client.info('persistence')).includes('rdb_last_bgsave_status:err'));
    await expectRefused(() => lease(store), 'MISCONF');
    const publication = aPublication(aSession({ generation: leased.fence }));
    await expectRefused(() => store.publish(leased, publication), 'MISCONF');
    await setTo('stop-writes-on-bgsave-error', 'no');
    expect(await store.publish(leased, publication)).toBe('published');
  });
});
