import { rmSync } from 'node:fs';
import type { Lease, SessionStore } from '#libs/session';
import {
  aClaim,
  aDeathReport,
  anOffer,
  aPublication,
  aRecordedFailure,
  aSession,
  describeWith,
  eventually,
  lease as leaseIn,
  RedisProcess,
} from '#libs/testing';
import type { KeysInRedis } from './redis-keys-fixture.js';
import { serverWithStores } from './redis-store-fixture.js';

const ANY_NUMBER = expect.any(Number) as number;
const fresh = serverWithStores('full', () => RedisProcess.start());

let keys: KeysInRedis;
let store: SessionStore;

beforeEach(async () => {
  ({ keys, store } = await fresh());
  await setTo('maxmemory', '0');
  await setTo('min-replicas-to-write', '0');
});

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
  const leased = await leaseIn(store);
  await store.release(leased, { called: true, nextDueInMs: 0, failure: aRecordedFailure() });
  return leased;
}

describeWith('redis-server', 'while Redis is full, what precedes a call is refused, and changes nothing', () => {
  it.each<readonly [who: string, given: () => Promise<unknown>, asked: Parameters<typeof aClaim>[0]]>([
    ['for a merchant that nobody knows', () => Promise.resolve(), {}],
    ['after calls that count, whose oldest are forgotten at this moment', withHistory, { mode: 'when_wanted' }],
    ['that a person wants', withHistory, { mode: 'when_wanted', ignoresBackOff: true, newerThan: 1 }],
    ['of the replica that has the lease: the answer to its claim may have been lost', () => leaseIn(store), {}],
    ['of another replica', () => leaseIn(store, { owner: 'replica-2' }), { mode: 'when_wanted' }],
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
    await expectRefused(() => leaseIn(store, { mode: 'when_wanted', ignoresBackOff: true }));
    await giveMemory();
    expect((await leaseIn(store)).failures).toBe(1);
  });

  it('a claim over an index that is none of ours', async () => {
    await keys.client.set(keys.due, 'a text');
    await fill();
    await expect(leaseIn(store)).rejects.toMatchObject(refusedWith('claim: OOM'));
    expect(await keys.client.type(keys.due)).toBe('string');
    await giveMemory();
    expect((await leaseIn(store)).owner).toBe('replica-1');
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
    const leased = await leaseIn(store);
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
    const leased = await leaseIn(store);
    await fill();
    const failure = aRecordedFailure();
    expect(await store.release(leased, { called: true, nextDueInMs: 40_000, failure })).toBe(true);
    expect((await keys.of('shop')).hash).toMatchObject({ failures: '1', dueMs: '40000' });
  });

  it('that a lease was not used, with its call and its cool-down', async () => {
    const leased = await leaseIn(store, { coolDownMs: 5_000 });
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
    await store.release(await leaseIn(store), { called: true, nextDueInMs: 60_000 });
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
    await expectRefused(() => leaseIn(store, { mode: 'when_wanted', ignoresBackOff: true }), 'NOREPLICAS');
    await setTo('min-replicas-to-write', '0');
    const leased = await leaseIn(store);
    await demandReplicas();
    await expectRefused(() => leaseIn(store), 'NOREPLICAS');
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
  const saving = serverWithStores('saving', () => RedisProcess.start({ args }));

  it('no lease is granted, not even again, and nothing is half written', async () => {
    ({ keys, store } = await saving());
    const leased = await leaseIn(store);
    rmSync(folder, { recursive: true });
    await keys.client.bgsave();
    await eventually(async () => (await keys.client.info('persistence')).includes('rdb_last_bgsave_status:err'));
    await expectRefused(() => leaseIn(store), 'MISCONF');
    const publication = aPublication(aSession({ generation: leased.fence }));
    await expectRefused(() => store.publish(leased, publication), 'MISCONF');
    await setTo('stop-writes-on-bgsave-error', 'no');
    expect(await store.publish(leased, publication)).toBe('published');
  });
});
