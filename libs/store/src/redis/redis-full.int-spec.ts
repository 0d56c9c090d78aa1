import type { SessionStore } from '#libs/session';
import {
  aClaim,
  aDeathReport,
  aPublication,
  aRecordedFailure,
  aSession,
  describeWith,
  giveUp,
  lease,
  PATIENT_REDIS,
  RedisProcess,
  stateOf,
} from '#libs/testing';
import type { KeysInRedis } from './redis-keys-fixture.js';
import { serverWithStores } from './redis-store-fixture.js';

const fresh = serverWithStores('full', { start: () => RedisProcess.start(), timeouts: PATIENT_REDIS });

let keys: KeysInRedis;
let store: SessionStore;

beforeEach(async () => {
  ({ keys, store } = await fresh());
  await setTo('maxmemory', '0');
  await setTo('min-replicas-to-write', '0');
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

describeWith('redis-server', 'while Redis is full, what precedes a call is refused, and changes nothing', () => {
  it.each<readonly [who: string, given: () => Promise<unknown>]>([
    ['for a merchant that nobody knows', () => Promise.resolve()],
    ['of the replica that has the lease: the answer to its claim may have been lost', () => lease(store)],
    ['over a hash that is none of ours', () => keys.client.set(keys.hashOf('shop'), 'a text')],
  ])('a claim %s', async (_who, given) => {
    await given();
    await fill();
    await expect(store.claim(aClaim())).rejects.toMatchObject(refusedWith('claim: OOM'));
    await giveMemory();
    expect((await keys.client.zrange(keys.callsOf('shop'), '0', '-1')).length).toBeLessThanOrEqual(1);
  });

  it('a claim leaves the merchant as it was, and is granted once there is memory', async () => {
    await giveUp(store, {}, { failure: aRecordedFailure() });
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
});

describeWith('redis-server', 'while Redis is full, what tells of a call that was made is written', () => {
  it('a publication, which other replicas read', async () => {
    const leased = await lease(store);
    await fill();
    const publication = aPublication(aSession({ generation: leased.fence }));
    expect(await store.publish(publication, leased)).toBe('published');
    const { states } = await store.read([{ merchant: 'shop', known: 0 }]);
    expect(states).toMatchObject([{ stored: { kind: 'session', session: { generation: leased.fence } } }]);
    expect((await keys.of('shop')).hash).not.toHaveProperty('owner');
  });

  it('the failure of an attempt, and when the next is due', async () => {
    const leased = await lease(store);
    await fill();
    const failure = aRecordedFailure();
    expect(await store.release(leased, { called: true, nextDueInMs: 40_000, failure })).toBe(true);
    expect((await keys.of('shop')).hash).toMatchObject({
      failures: '1',
      due: expect.stringMatching(/ 40000$/) as string,
    });
  });

  it('that a lease was not used, with its call and its cool-down', async () => {
    const leased = await lease(store, { coolDownMs: 5_000 });
    await fill();
    expect(await store.release(leased, { called: false, nextDueInMs: 0 })).toBe(true);
    const { hash, calls } = await keys.of('shop');
    expect(hash).not.toHaveProperty('cooledDownAt');
    expect(calls).toEqual([]);
  });

  it('that a session is dead', async () => {
    const { generation } = aSession({ generation: 4_711 });
    await store.publish(aPublication(aSession({ generation })));
    await fill();
    const report = aDeathReport({ generation, mayProve: true });
    expect(await store.report('shop', report)).toEqual({ isKept: true, diedEarly: true });
    expect((await keys.of('shop')).hash).toHaveProperty('reportedDead');
  });
});

describeWith('redis-server', 'while Redis takes no writes, it is read as ever', () => {
  it.each<[string, () => Promise<void>]>([
    ['it is full', fill],
    ['too few replicas follow it', demandReplicas],
  ])('and a merchant is made known by the first read after that: %s', async (_why, refuse) => {
    const leased = await lease(store, { merchant: 'other' });
    await store.publish(
      aPublication(aSession({ merchant: 'other', generation: leased.fence }), { nextDueInMs: 0 }),
      leased,
    );
    await refuse();
    expect(await stateOf(store)).toEqual({ merchant: 'shop', stored: { kind: 'absent' }, dueInMs: 0 });
    expect(await store.due(5)).toEqual({ merchants: ['other'] });
    await setTo('maxmemory', '0');
    await setTo('min-replicas-to-write', '0');
    await stateOf(store);
    expect([...(await store.due(5)).merchants].sort()).toEqual(['other', 'shop']);
  });
});

describeWith('redis-server', 'while Redis takes no writes for another reason', () => {
  it('too few replicas follow it: no lease is granted, not even again, and nothing is half written', async () => {
    await giveUp(store, {}, { failure: aRecordedFailure() });
    await demandReplicas();
    await expectRefused(() => lease(store, { mode: 'when_wanted', ignoresBackOff: true }), 'NOREPLICAS');
    await setTo('min-replicas-to-write', '0');
    const leased = await lease(store);
    await demandReplicas();
    await expectRefused(() => lease(store), 'NOREPLICAS');
    const publication = aPublication(aSession({ generation: leased.fence }));
    await expectRefused(() => store.publish(publication, leased), 'NOREPLICAS');
    await expectRefused(() => store.release(leased, { called: false, nextDueInMs: 0 }), 'NOREPLICAS');
    await setTo('min-replicas-to-write', '0');
    expect(await store.publish(publication, leased)).toBe('published');
  });
});
