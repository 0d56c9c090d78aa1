import fc from 'fast-check';
import type { Announcement, Lease } from '#libs/session';
import {
  aClaim,
  anOffer,
  aPublication,
  aRecordedFailure,
  aSession,
  describeSessionStoreContract,
  FakeClock,
  type StoreUnderTest,
} from '#libs/testing';
import { CallLog } from './call-log.js';
import { DueQueue } from './due-queue.js';
import { MemorySessionStore } from './memory-session-store.js';
import { SEAT_COUNT, Seats } from './seats.js';
import { isOver, remainingMs, type StoreMoment } from './store-moment.js';

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

describe('the log of create calls', () => {
  it('never lets more calls into any window than it allows, and never makes one wait longer than needed', () => {
    const window = fc.record({ calls: fc.integer({ min: 1, max: 4 }), perMs: fc.integer({ min: 1, max: 50 }) });
    const budgets = fc.array(window, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(budgets, fc.array(fc.nat(20), { maxLength: 60 }), (budget, pauses) => {
        const log = new CallLog();
        const taken: number[] = [];
        let nowMs = 0;
        for (const pauseMs of pauses) {
          nowMs += pauseMs;
          const waits = budget.map(({ calls, perMs }) => {
            const inWindow = taken.filter((atMs) => atMs > nowMs - perMs);
            return inWindow.length < calls ? 0 : (inWindow.at(-calls) ?? NaN) + perMs - nowMs;
          });
          expect(log.wait(nowMs, budget)?.retryInMs ?? 0).toBe(Math.max(...waits));
          if (Math.max(...waits) > 0) continue;
          log.take(nowMs);
          taken.push(nowMs);
        }
      }),
    );
  });

  it('lets nothing through when the budget allows no call at all', () => {
    expect(new CallLog().wait(0, [{ calls: 0, perMs: 1_000 }])?.retryInMs).toBe(1_000);
  });

  it('forgets exactly the call that is given back, and only once', () => {
    const log = new CallLog();
    const budget = [{ calls: 2, perMs: 100 }];
    const first = log.take(40);
    log.take(40);
    log.giveBack(first);
    log.giveBack(first);
    expect(log.wait(50, budget)).toBeUndefined();
    log.take(50);
    expect(log.wait(50, budget)?.retryInMs).toBe(90);
  });

  it('lets a call of the future count from now, once, and forgets it when it is given back', () => {
    const log = new CallLog();
    const budget = [{ calls: 1, perMs: 100 }];
    const taken = log.take(5_000);
    expect(log.wait(40, budget)?.retryInMs).toBe(100);
    expect(log.wait(90, budget)?.retryInMs).toBe(50);
    log.giveBack(taken);
    expect(log.wait(90, budget)).toBeUndefined();
  });

  it('names what is waited for by another mark once another call has to leave first', () => {
    const log = new CallLog();
    const budget = [{ calls: 1, perMs: 100 }];
    log.take(0);
    const first = log.wait(10, budget)?.mark;
    expect(log.wait(99, budget)?.mark).toBe(first);
    expect(log.wait(99, [{ calls: 1, perMs: 200 }])?.mark).not.toBe(first);
    log.take(100);
    expect(log.wait(110, budget)?.mark).not.toBe(first);
  });
});

const at = (endsAtMs: number): StoreMoment => ({ mark: `due:${endsAtMs}`, endsAtMs, lengthMs: endsAtMs });

describe('DueQueue', () => {
  const move = fc.record({ merchant: fc.constantFrom('a', 'b', 'c', 'd', 'e'), dueAtMs: fc.nat(20) });

  it('lists what is due as a sorted list of all merchants would', () => {
    const limit = fc.integer({ min: 1, max: 6 });
    fc.assert(
      fc.property(fc.array(move), fc.nat(20), limit, (moves, nowMs, most) => {
        const queue = new DueQueue();
        const all = new Map<string, number>();
        for (const { merchant, dueAtMs } of moves) {
          queue.set(merchant, at(dueAtMs));
          // Deleted first, so that the map keeps the order in which the moments were set.
          all.delete(merchant);
          all.set(merchant, dueAtMs);
        }
        const sorted = [...all].sort(([, a], [, b]) => a - b);
        const due = sorted.filter(([, dueAtMs]) => dueAtMs <= nowMs).slice(0, most);
        const nextAtMs = sorted[due.length]?.[1];
        const next = nextAtMs === undefined ? undefined : at(nextAtMs);
        const expected = { merchants: due.map(([merchant]) => merchant), next };
        expect(queue.list(nowMs, most)).toEqual(expected);
        expect(queue.list(nowMs, most)).toEqual(expected);
      }),
    );
  });

  it('knows the moment of each merchant, and of no other', () => {
    const queue = new DueQueue();
    queue.set('shop', at(5));
    queue.set('shop', at(3));
    expect(queue.momentOf('shop')).toEqual(at(3));
    expect(queue.momentOf('other')).toBeUndefined();
  });

  it('does not keep the moments that were moved away from', () => {
    const queue = new DueQueue();
    for (let round = 0; round < 10_000; round += 1) queue.set('shop', at(1_000_000 - round));
    expect(queue.list(2_000_000, 100).merchants).toEqual(['shop']);
  });
});

const everySeatTaken = (seats: Seats): number[] =>
  Array.from({ length: SEAT_COUNT }, (_, index) => seats.seatOf(`replica-${index}`));

describe('the seats of replicas', () => {
  it('are a number each, the same for the same owner', () => {
    const seats = new Seats();
    const numbers = everySeatTaken(seats);
    expect(new Set(numbers).size).toBe(SEAT_COUNT);
    expect(everySeatTaken(seats)).toEqual(numbers);
  });

  it('are taken from the longest unused owner when there is none left, who then takes that of the next', () => {
    const seats = new Seats();
    const numbers = everySeatTaken(seats);
    seats.seatOf('replica-0');
    expect(seats.seatOf('newcomer')).toBe(numbers[1]);
    expect(seats.seatOf('replica-1')).toBe(numbers[2]);
    expect(seats.seatOf('newcomer')).toBe(numbers[1]);
  });
});

const moment = { mark: 'due:1000', endsAtMs: 1_000, lengthMs: 400 };

describe('a moment of the store', () => {
  it.each([
    ['counts down to its end', 700, 300],
    ['is over at its end, and stays over', 1_000, 0],
    ['never owes time', 5_000, 0],
    ['is never further off than when it was set, though the clock was set back', -86_400_000, 400],
  ])('%s', (_name, nowMs, expectedMs) => {
    expect(remainingMs(moment, nowMs)).toBe(expectedMs);
    expect(isOver(moment, nowMs, undefined)).toBe(expectedMs === 0);
  });

  it('is over for a replica that has watched it, and not for one that watched another', () => {
    expect(isOver(moment, 700, moment.mark)).toBe(true);
    expect(isOver(moment, 700, 'due:999')).toBe(false);
  });
});
