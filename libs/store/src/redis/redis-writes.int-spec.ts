import { randomUUID } from 'node:crypto';
import type { ClaimRequest, Lease, SessionStore } from '#libs/session';
import {
  aBudget,
  aClaim,
  aDeathReport,
  anOffer,
  aPublication,
  aRecordedFailure,
  aSession,
  describeWith,
  lease as leaseIn,
  RedisProcess,
} from '#libs/testing';
import { encodeFailure } from './announcement-codec.js';
import type { KeysInRedis } from './redis-keys-fixture.js';
import { serverWithStores } from './redis-store-fixture.js';

/** The length of a lease that only serves as set-up. */
const LEASE_MS = 60_000;
/** A write counts as sent a little before it was, by as long as the quickest answer of this server took. */
const ON_ITS_WAY_MS = 1_000;
const fresh = serverWithStores('writes', () => RedisProcess.start());

let keys: KeysInRedis;
let store: SessionStore;

beforeEach(async () => {
  ({ keys, store } = await fresh());
});

const lease = (overrides: Partial<ClaimRequest> = {}): Promise<Lease> => leaseIn(store, overrides);

/**
 * Everything that a merchant's hash can have, once: a failure, a cool-down that was not given back, a contested
 * session.
 */
async function withHistory(): Promise<Lease> {
  const first = await lease({ coolDownMs: 1 });
  await store.release(first, { called: true, nextDueInMs: 0, failure: aRecordedFailure() });
  const other = await lease({ owner: 'replica-2' });
  await store.offer(anOffer(aSession({ generation: other.fence + 1 }), { known: 0 }));
  await store.release(other, { called: true, nextDueInMs: 0 });
  return other;
}

const anyText = expect.any(String) as string;

describeWith('redis-server', 'what an operation leaves in Redis', () => {
  it('calls for as long as the longest window looks back, and never more than it allows, whatever share is asked for', async () => {
    const budget = [
      { calls: 20, perMs: 100 },
      { calls: 5, perMs: 600_000 },
    ];
    const share = budget.map(({ calls, perMs }) => ({ calls: Math.floor(calls * 0.75), perMs }));
    for (let round = 0; round < 40; round += 1) {
      const whateverIsStored = { mode: 'when_wanted', newerThan: Number.MAX_SAFE_INTEGER } as const;
      const answer = await store.claim(aClaim({ ...whateverIsStored, budget: round % 2 === 0 ? share : budget }));
      if (answer.kind === 'claimed') await store.release(answer.lease, { called: true, nextDueInMs: 0 });
    }
    const { calls, callsEndInMs } = await keys.of('shop');
    expect(calls).toHaveLength(5);
    expect(callsEndInMs > 500_000 && callsEndInMs <= 600_000).toBe(true);
  });

  it('all calls of the default budget in the form that Redis keeps in half the memory', async () => {
    const budget = aBudget({ calls: 60, perMs: 86_400_000 });
    const owner = randomUUID();
    for (let call = 0; call < 60; call += 1) {
      const claimed = await lease({ owner, budget, newerThan: Number.MAX_SAFE_INTEGER });
      await store.release(claimed, { called: true, nextDueInMs: 0 });
    }
    expect((await keys.of('shop')).calls).toHaveLength(60);
    expect(await keys.client.object('ENCODING', keys.callsOf('shop'))).toBe('listpack');
    expect(await keys.client.memory('USAGE', keys.callsOf('shop'), 'SAMPLES', 0)).toBeLessThan(6 * 1_024);
  });

  it('a claim: its lease, its call, and one moment for the end of both lease and rest', async () => {
    const budget = aBudget({ perMs: 30_000 });
    let leased: Lease | undefined;
    const [began, ended] = await keys.during(async () => (leased = await lease({ coolDownMs: 5_000, budget })));
    const { hash, calls, callsEndInMs, dueAtMs } = await keys.of('shop');
    const at = Number(hash['cooledDownAt']);
    expect(at >= began && at <= ended).toBe(true);
    const fence = String(leased?.fence);
    expect(Number(fence) - at).toBe(at % 2);
    const call = `${fence}:replica-1:0`;
    const endsAt = String(at + LEASE_MS);
    expect(hash).toEqual({
      ...{ fence, owner: 'replica-1', leaseEndsAt: endsAt, leaseMs: '60000', leaseCools: '1', leaseCall: call },
      ...{ cooledDownAt: String(at), dueAt: endsAt, dueMs: '60000', dueFence: fence },
    });
    expect(calls).toEqual([[call, at]]);
    expect(callsEndInMs > 10_000 && callsEndInMs <= 30_000).toBe(true);
    expect(dueAtMs).toBe(at + LEASE_MS);
    expect(leased).toEqual({
      merchant: 'shop',
      owner: 'replica-1',
      fence: leased?.fence,
      remainingMs: 60_000,
      failures: 0,
    });
  });

  it('a claim without a cool-down: nothing of one', async () => {
    await lease();
    const { hash } = await keys.of('shop');
    expect(hash).not.toHaveProperty('cooledDownAt');
    expect(hash['leaseCools']).toBe('0');
  });

  it('a publication: the session and when the next is due, and nothing of lease or failures', async () => {
    await withHistory();
    const leased = await lease();
    const ageMs = 7_000;
    const publication = aPublication(aSession({ generation: leased.fence }), { ageMs, nextDueInMs: 40_000 });
    const [began, ended] = await keys.during(() => store.publish(leased, publication));
    const { hash, dueAtMs } = await keys.of('shop');
    const answeredAt = Number(hash['publishedAt']);
    expect(answeredAt >= began - ageMs - ON_ITS_WAY_MS && answeredAt <= ended - ageMs).toBe(true);
    const fence = String(leased.fence);
    const dueAt = String(answeredAt + ageMs + 40_000);
    expect(hash).toEqual({
      ...{ fence, generation: fence, sealed: anyText, publishedAt: anyText, cooledDownAt: anyText },
      ...{ dueAt, dueMs: '40000', dueFence: fence },
    });
    expect(dueAtMs).toBe(Number(dueAt));
  });

  it('an offer: the session, whether it is contested, and when the next is due, and nothing of failures', async () => {
    const { fence } = await withHistory();
    const offer = anOffer(aSession({ generation: fence + 3 }), { known: fence, ageMs: 7_000, nextDueInMs: 40_000 });
    const [began, ended] = await keys.during(() => store.offer(offer));
    const { hash, dueAtMs } = await keys.of('shop');
    const answeredAt = Number(hash['publishedAt']);
    expect(answeredAt >= began - 7_000 - ON_ITS_WAY_MS && answeredAt <= ended - 7_000).toBe(true);
    const dueAt = String(answeredAt + 47_000);
    expect(hash).toEqual({
      ...{ fence: String(fence), generation: String(fence + 3), sealed: anyText, publishedAt: anyText },
      ...{ contested: '1', cooledDownAt: anyText, dueAt, dueMs: '40000', dueFence: String(fence) },
    });
    expect(dueAtMs).toBe(Number(dueAt));
  });

  it('a report that the session is dead: of which, since when, and what held up a newer one', async () => {
    const { generation } = aSession({ generation: 4_711 });
    await store.offer(anOffer(aSession({ generation })));
    const { hash: before } = await keys.of('shop');
    const report = aDeathReport({ generation, ageMs: 2_000 });
    const [began, ended] = await keys.during(() => store.reportDead('shop', report));
    const { hash } = await keys.of('shop');
    const [, at = '', rest] = /^4711 (\d+) (.*)$/.exec(hash['reportedDead'] ?? '') ?? [];
    expect(Number(at) >= began - 2_000 - ON_ITS_WAY_MS && Number(at) <= ended - 2_000).toBe(true);
    expect([hash, rest]).toEqual([{ ...before, reportedDead: anyText }, 'cool_down 10000']);
    await store.reportDead('shop', { generation, ageMs: 0 });
    expect((await keys.of('shop')).hash['reportedDead']).toMatch(/^4711 \d+ - 0$/);
  });

  it('a release: the failure, how many there were, and when the next attempt is due', async () => {
    const failure = aRecordedFailure();
    await store.release(await lease(), { called: true, nextDueInMs: 0, failure });
    const leased = await lease();
    const release = { called: true, nextDueInMs: 40_000, failure: aRecordedFailure({ kind: 'timeout' }) };
    const [began, ended] = await keys.during(() => store.release(leased, release));
    const { hash, dueAtMs } = await keys.of('shop');
    const at = Number(hash['dueAt']) - 40_000;
    expect(at >= began && at <= ended).toBe(true);
    const fence = String(leased.fence);
    expect(hash).toEqual({
      ...{ fence, failures: '2', failure: encodeFailure(release.failure) },
      ...{ dueAt: anyText, dueMs: '40000', dueFence: fence },
    });
    expect(dueAtMs).toBe(at + 40_000);
  });

  it('a release of what was never called: neither call nor cool-down', async () => {
    await store.release(await lease({ coolDownMs: 5_000 }), { called: false, nextDueInMs: 0 });
    const { hash, calls } = await keys.of('shop');
    expect(hash).not.toHaveProperty('cooledDownAt');
    expect(calls).toEqual([]);
  });

  it('a release of what was never called, and had no cool-down: that of another stays', async () => {
    await store.release(await lease({ coolDownMs: 5_000 }), { called: true, nextDueInMs: 0 });
    const before = await keys.of('shop');
    await store.release(await lease(), { called: false, nextDueInMs: 0 });
    const { hash, calls } = await keys.of('shop');
    expect(hash['cooledDownAt']).toBe(before.hash['cooledDownAt']);
    expect(calls).toEqual(before.calls);
  });

  it('an enrolment: a merchant that is due', async () => {
    const [began, ended] = await keys.during(() => store.enrol(['shop']));
    const { hash, dueAtMs = 0 } = await keys.of('shop');
    expect(dueAtMs >= began && dueAtMs <= ended).toBe(true);
    expect(hash).toEqual({ dueAt: String(dueAtMs), dueMs: '0', dueFence: '' });
  });

  it('an enrolment of what has a due moment: the same as before', async () => {
    await store.release(await lease(), { called: true, nextDueInMs: 40_000 });
    const before = await keys.of('shop');
    await store.enrol(['shop']);
    expect(await keys.of('shop')).toEqual({ ...before, callsEndInMs: expect.any(Number) as number });
  });

  it('a read, a look at what is due, and what was refused: the same as before', async () => {
    const { fence } = await withHistory();
    const leased = await lease();
    const before = { ...(await keys.of('shop')), callsEndInMs: expect.any(Number) as number };
    await store.read([{ merchant: 'shop', known: 0 }]);
    await store.due(5);
    expect((await store.claim(aClaim({ owner: 'replica-2', mode: 'when_wanted', newerThan: fence + 1 }))).kind).toBe(
      'held',
    );
    expect((await store.claim(aClaim({ owner: 'replica-2' }))).kind).toBe('already_newer');
    const older = { ...leased, fence: fence - 2 };
    expect(await store.publish(older, aPublication(aSession({ generation: fence - 2 })))).toBe('fenced');
    expect(await store.offer(anOffer(aSession({ generation: fence - 1 })))).toMatchObject({ kind: 'refused' });
    expect(await store.release(older, { called: false, nextDueInMs: 0, failure: aRecordedFailure() })).toBe(false);
    expect(await keys.of('shop')).toEqual(before);
  });

  it('a session that is older than the clock of the store: answered when that began', async () => {
    const ageMs = 8e15;
    const leased = await lease();
    await store.publish(leased, aPublication(aSession({ generation: leased.fence }), { ageMs }));
    expect((await keys.of('shop')).hash['publishedAt']).toBe('0');
    const session = aSession({ generation: leased.fence + 1 });
    await store.offer(anOffer(session, { known: leased.fence, ageMs }));
    expect((await keys.of('shop')).hash['publishedAt']).toBe('0');
  });

  it('the same offer again: the text and the age of one that was damaged, and nothing of one that was not', async () => {
    const offer = anOffer(aSession({ generation: 4_711 }), { known: 4_710, ageMs: 7_000 });
    await store.offer(offer);
    const { hash: before } = await keys.of('shop');
    await store.offer({ ...offer, ageMs: 20_000, nextDueInMs: 0 });
    expect((await keys.of('shop')).hash).toEqual({ ...before, sealed: anyText });
    await keys.client.hdel(keys.hashOf('shop'), 'publishedAt', 'sealed');
    const [began, ended] = await keys.during(() => store.offer({ ...offer, ageMs: 20_000 }));
    const { hash } = await keys.of('shop');
    const answeredAt = Number(hash['publishedAt']);
    expect(answeredAt >= began - 20_000 - ON_ITS_WAY_MS && answeredAt <= ended - 20_000).toBe(true);
    expect(hash).toEqual({ ...before, sealed: anyText, publishedAt: anyText });
    await keys.client.hdel(keys.hashOf('shop'), 'publishedAt');
    await store.offer({ ...offer, ageMs: 8e15 });
    expect((await keys.of('shop')).hash['publishedAt']).toBe('0');
  });
});
