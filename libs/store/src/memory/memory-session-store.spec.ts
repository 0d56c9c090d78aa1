import { aClaim, aSession, describeSessionStoreContract, FakeClock, type StoreUnderTest } from '#libs/testing';
import { MemorySessionStore } from './memory-session-store.js';

describeSessionStoreContract('MemorySessionStore', async (): Promise<StoreUnderTest> => {
  const clock = new FakeClock();
  const store = new MemorySessionStore({ clock, onListenerError: () => undefined });
  return {
    replicas: [store, store],
    advance: (durationMs) => clock.advance(durationMs),
    dispose: () => store.close(),
  };
});

describe('MemorySessionStore', () => {
  it('measures leases by monotonic time: a jump of the wall clock ends none and moves no due moment', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    await store.claim(aClaim({ leaseMs: 10_000 }));
    clock.jumpWall(3_600_000);
    expect(await store.claim(aClaim({ owner: 'replica-2' }))).toEqual({ kind: 'held', retryInMs: 10_000 });
    expect(await store.due(1)).toEqual({ merchants: [], nextDueInMs: 10_000 });
  });

  it('grants growing fences while the wall clock goes back', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    const first = await store.claim(aClaim({ leaseMs: 1 }));
    clock.jumpWall(-3_600_000);
    await clock.advance(1);
    const second = await store.claim(aClaim({ leaseMs: 1 }));
    if (first.kind !== 'claimed' || second.kind !== 'claimed') throw new Error('both must be granted');
    expect(second.lease.fence).toBe(first.lease.fence + 1);
  });

  it('ends a lease exactly at its end, and lets the merchant fall due at that same moment', async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ clock });
    await store.claim(aClaim({ leaseMs: 10_000 }));
    await clock.advance(9_999);
    expect(await store.claim(aClaim({ owner: 'replica-2' }))).toEqual({ kind: 'held', retryInMs: 1 });
    expect((await store.due(1)).merchants).toEqual([]);
    await clock.advance(1);
    expect((await store.due(1)).merchants).toEqual(['shop']);
    expect(await store.claim(aClaim({ owner: 'replica-2' }))).toMatchObject({ kind: 'claimed' });
  });

  it('reports what a listener throws to its handler', async () => {
    const thrown: unknown[] = [];
    const store = new MemorySessionStore({ clock: new FakeClock(), onListenerError: (error) => thrown.push(error) });
    const fault = new Error('on purpose');
    store.onAnnouncement(() => {
      throw fault;
    });
    const claimed = await store.claim(aClaim());
    if (claimed.kind !== 'claimed') throw new Error('must be granted');
    await store.publish(claimed.lease, aSession({ generation: claimed.lease.fence }), 0);
    expect(thrown).toEqual([fault]);
  });
});
