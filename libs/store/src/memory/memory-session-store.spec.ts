import type { Announcement, Lease } from '#libs/session';
import {
  aClaim,
  anOffer,
  aPublication,
  aRecordedFailure,
  aSession,
  describeSessionStoreContract,
  describeSightingsContract,
  FakeClock,
  type StoreUnderTest,
} from '#libs/testing';
import { MemorySessionStore } from './memory-session-store.js';

/** The clock of a store, which can be set: it is the only clock that the store's moments are counted by. */
class StoreClock extends FakeClock {
  aheadMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.aheadMs;
  }
}

describeSessionStoreContract('MemorySessionStore', async (): Promise<StoreUnderTest> => {
  const clock = new StoreClock();
  const store = new MemorySessionStore({ clock, onListenerError: () => undefined });
  return {
    replicas: [store, store],
    tick: () => clock.advance(5),
    advance: (durationMs) => clock.advance(durationMs),
    setBack: (byMs) => {
      clock.aheadMs -= byMs;
      clock.jumpWall(-byMs);
      return Promise.resolve();
    },
    dispose: () => store.close(),
  };
});

describeSightingsContract('MemorySessionStore', () => {
  const clock = new FakeClock();
  const store = new MemorySessionStore({ clock });
  return Promise.resolve({
    replicas: [store, store],
    advance: (durationMs) => clock.advance(durationMs),
    dispose: () => store.close(),
  });
});

async function granted(store: MemorySessionStore, claim: Parameters<typeof aClaim>[0] = {}): Promise<Lease> {
  const result = await store.claim(aClaim(claim));
  if (result.kind !== 'claimed') throw new Error(`the claim was answered ${result.kind}, the test needs the lease`);
  return result.lease;
}

const publicationOf = ({ fence }: Lease): ReturnType<typeof aPublication> =>
  aPublication(aSession({ generation: fence }), { nextDueInMs: 0 });

describe('MemorySessionStore', () => {
  it('measures leases by monotonic time: a jump of the wall clock ends none and moves no due moment', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    await granted(store, { leaseMs: 10_000 });
    clock.jumpWall(3_600_000);
    expect(await store.claim(aClaim({ owner: 'replica-2' }))).toMatchObject({ kind: 'held', retryInMs: 10_000 });
    expect(await store.due(1)).toEqual({ merchants: [], nextDueInMs: 10_000 });
  });

  it('gives its readers the wall clock, and the age of a session by the monotonic one', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    const leased = await granted(store);
    await store.publish(leased, { ...publicationOf(leased), ageMs: 1_500 });
    await clock.advance(500);
    clock.jumpWall(-3_600_000);
    const { states, now } = await store.read([{ merchant: 'shop', known: leased.fence }]);
    expect(now).toBe(clock.now());
    expect(states[0]?.stored).toEqual({ kind: 'unchanged', ageMs: 2_000 });
  });

  it('grants growing even fences while the wall clock goes back', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    const first = await granted(store, { leaseMs: 1 });
    clock.jumpWall(-3_600_000);
    await clock.advance(1);
    const second = await granted(store, { leaseMs: 1 });
    expect([first.fence % 2, second.fence]).toEqual([0, first.fence + 2]);
  });

  it('ends a lease exactly at its end, and lets the merchant fall due at that same moment', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    await granted(store, { leaseMs: 10_000 });
    await clock.advance(9_999);
    expect(await store.claim(aClaim({ owner: 'replica-2' }))).toMatchObject({ kind: 'held', retryInMs: 1 });
    expect((await store.due(1)).merchants).toEqual([]);
    await clock.advance(1);
    expect((await store.due(1)).merchants).toEqual(['shop']);
    expect(await store.claim(aClaim({ owner: 'replica-2' }))).toMatchObject({ kind: 'claimed' });
  });

  it('forgets a session whose generation is beyond belief, and takes the next one', async () => {
    const store = new MemorySessionStore({ clock: new FakeClock() });
    const generation = 8_999_999_999_999_999;
    await store.offer(anOffer(aSession({ generation })));
    const leased = await granted(store, { mode: 'when_wanted' });
    expect(leased.fence).toBeLessThan(generation);
    expect(await store.publish(leased, publicationOf(leased))).toBe('published');
    const { states } = await store.read([{ merchant: 'shop', known: leased.fence }]);
    expect(states[0]?.stored).toEqual({ kind: 'unchanged', ageMs: 0 });
  });

  it('takes an offer in place of a generation that is beyond belief', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    await store.offer(anOffer(aSession({ generation: 8_999_999_999_999_999 })));
    const generation = clock.now() + 1;
    expect(await store.offer(anOffer(aSession({ generation })))).toMatchObject({ kind: 'taken', generation });
  });

  it('announces nothing any more once it is closed', async () => {
    const store = new MemorySessionStore({ clock: new FakeClock() });
    const heard: Announcement[] = [];
    store.onAnnouncement((announcement) => heard.push(announcement));
    const leased = await granted(store);
    const published = store.publish(leased, publicationOf(leased));
    await store.close();
    await published;
    expect(heard).toEqual([]);
  });

  it('loses no announcement: it never says that hints may have been lost', async () => {
    const store = new MemorySessionStore({ clock: new FakeClock() });
    const heard: Announcement[] = [];
    store.onAnnouncement((announcement) => heard.push(announcement));
    await store.enrol(['shop']);
    await store.seat('replica-1');
    const failed = await granted(store);
    await store.release(failed, { called: true, nextDueInMs: 0, failure: aRecordedFailure() });
    const leased = await granted(store);
    await store.publish(leased, publicationOf(leased));
    await store.offer(anOffer(aSession({ generation: leased.fence + 1 })));
    await store.read([{ merchant: 'shop', known: 0 }]);
    await store.close();
    expect(heard.map(({ kind }) => kind)).toEqual(['changed', 'changed', 'changed']);
  });

  it('reports what a listener throws to its handler', async () => {
    const thrown: unknown[] = [];
    const store = new MemorySessionStore({ clock: new FakeClock(), onListenerError: (error) => thrown.push(error) });
    const fault = new Error('on purpose');
    store.onAnnouncement(() => {
      throw fault;
    });
    const leased = await granted(store);
    await store.publish(leased, publicationOf(leased));
    expect(thrown).toEqual([fault]);
  });
});
