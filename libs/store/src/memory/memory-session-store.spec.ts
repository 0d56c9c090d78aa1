import fc from 'fast-check';
import type { Announcement, Lease } from '#libs/session';
import {
  aClaim,
  aPublication,
  aSession,
  describeSessionStoreContract,
  FakeClock,
  lease,
  type StoreUnderTest,
} from '#libs/testing';
import { MemorySessionStore } from './memory-session-store.js';
import { claimIn, firstDue, newRecord } from './merchant-record.js';

/** The clock of a store, which can be set: it is the only clock that the store's moments are counted by. */
class StoreClock extends FakeClock {
  aheadMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.aheadMs;
  }
}

describeSessionStoreContract('MemorySessionStore', async (): Promise<StoreUnderTest> => {
  const clock = new StoreClock();
  const store = new MemorySessionStore({ clock });
  return {
    replicas: [store, store],
    advance: (durationMs) => clock.advance(durationMs),
    setBack: (byMs) => {
      clock.aheadMs -= byMs;
      clock.jumpWall(-byMs);
      return Promise.resolve();
    },
    dispose: () => store.close(),
  };
});

const publicationOf = ({ fence }: Lease): ReturnType<typeof aPublication> =>
  aPublication(aSession({ generation: fence }), { nextDueInMs: 0 });

describe('MemorySessionStore', () => {
  it('measures leases by monotonic time: a jump of the wall clock ends none and moves no due moment', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    await lease(store, { leaseMs: 10_000 });
    clock.jumpWall(3_600_000);
    expect(await store.claim(aClaim({ owner: 'replica-2' }))).toMatchObject({ kind: 'held', retryInMs: 10_000 });
    expect(await store.due(1)).toEqual({ merchants: [], nextDueInMs: 10_000 });
  });

  it('gives its readers the wall clock, and the age of a session by the monotonic one', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    const leased = await lease(store);
    await store.publish({ ...publicationOf(leased), ageMs: 1_500 }, leased);
    await clock.advance(500);
    clock.jumpWall(-3_600_000);
    const { states, now } = await store.read([{ merchant: 'shop', known: leased.fence }]);
    expect(now).toBe(clock.now());
    expect(states[0]?.stored).toEqual({ kind: 'unchanged', ageMs: 2_000 });
  });

  it('ends a lease exactly at its end, and lets the merchant fall due at that same moment', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    await lease(store, { leaseMs: 10_000 });
    await clock.advance(9_999);
    expect(await store.claim(aClaim({ owner: 'replica-2' }))).toMatchObject({ kind: 'held', retryInMs: 1 });
    expect((await store.due(1)).merchants).toEqual([]);
    await clock.advance(1);
    expect((await store.due(1)).merchants).toEqual(['shop']);
    expect(await store.claim(aClaim({ owner: 'replica-2' }))).toMatchObject({ kind: 'claimed' });
  });

  it('forgets a session whose generation is beyond belief, and takes the next one', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    const generation = 8_999_999_999_999_999;
    for (const merchant of ['shop', 'second']) await store.publish(aPublication(aSession({ merchant, generation })));
    const leased = await lease(store, { newerThan: 0 });
    expect(leased.fence).toBeLessThan(generation);
    expect(await store.publish(publicationOf(leased), leased)).toBe('published');
    const next = aSession({ merchant: 'second', generation: clock.now() + 1 });
    expect(await store.publish(aPublication(next))).toBe('published');
  });

  it('announces nothing any more once it is closed', async () => {
    const store = new MemorySessionStore({ clock: new FakeClock() });
    const heard: Announcement[] = [];
    store.onAnnouncement((announcement) => heard.push(announcement));
    const leased = await lease(store);
    const published = store.publish(publicationOf(leased), leased);
    await store.close();
    await published;
    expect(heard).toEqual([]);
  });
});

describe('firstDue', () => {
  it('lists of the earliest of several shards what one sorted list of all would', () => {
    const shard = fc.array(fc.record({ merchant: fc.string(), dueInMs: fc.integer({ min: -9, max: 9 }) }));
    fc.assert(
      fc.property(fc.array(shard), fc.integer({ min: 1, max: 5 }), (shards, limit) => {
        const all = shards.flat().sort((a, b) => a.dueInMs - b.dueInMs);
        const dueCount = Math.min(limit, all.filter(({ dueInMs }) => dueInMs <= 0).length);
        const cut = shards.map((entries) => entries.toSorted((a, b) => a.dueInMs - b.dueInMs).slice(0, limit + 1));
        const listed = firstDue(cut.flat(), limit);
        expect(listed.merchants).toEqual(all.slice(0, dueCount).map(({ merchant }) => merchant));
        const next = all[dueCount];
        expect(listed.nextDueInMs).toBe(next === undefined ? undefined : Math.max(0, next.dueInMs));
      }),
    );
  });
});

describe('the budget of create calls', () => {
  it('never lets more calls into any window than it allows, and never makes one wait longer than needed', () => {
    const window = fc.record({ calls: fc.integer({ min: 1, max: 4 }), perMs: fc.integer({ min: 1, max: 50 }) });
    const budgets = fc.array(window, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(budgets, fc.array(fc.nat(20), { maxLength: 60 }), (budget, pauses) => {
        const taken: number[] = [];
        let monotonicMs = 0;
        let record = newRecord({ monotonicMs, wall: new FakeClock().now() });
        for (const pauseMs of pauses) {
          monotonicMs += pauseMs;
          const wall = new FakeClock().now();
          const waits = budget.map(({ calls, perMs }) => {
            const inWindow = taken.filter((atMs) => atMs > monotonicMs - perMs);
            if (calls === 0) return perMs;
            return inWindow.length < calls ? 0 : (inWindow.at(-calls) ?? NaN) + perMs - monotonicMs;
          });
          const outcome = claimIn(record, aClaim({ budget, leaseMs: 0 }), { monotonicMs, wall });
          record = outcome.record;
          const { answer } = outcome;
          expect('retryInMs' in answer ? answer.retryInMs : 0).toBe(Math.max(...waits));
          if (answer.kind === 'claimed') taken.push(monotonicMs);
        }
      }),
    );
  });
});
