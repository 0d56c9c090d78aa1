import { instantFromEpochMs, plusMs } from '#libs/clock';
import type { Lease, Publication } from '#libs/session';
import { aClaim, aPublication, aRecordedFailure, aSession } from '../builders.js';
import {
  type Bench,
  byOther,
  expectAbout,
  expectAged,
  failOnce,
  giveUp,
  lease,
  letPass,
  LONG_MS,
  publicationOf,
  sessionOf,
  SHORT_MS,
  stateOf,
} from './store-under-test.js';

export function describePublish(bench: Bench): void {
  describe('publish', () => {
    it('makes the session readable on every replica, whole and exact, with its age since the gateway has answered', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      const leased = await lease(store);
      const createdAt = instantFromEpochMs(1_767_225_600_123.25);
      const session = sessionOf(leased, {
        createdAt,
        expiresAt: plusMs(createdAt, 900_000.5),
        refreshToken: 'a7f0b1de-23a1-4b26-8f0b-6a5a8f7f9d10',
        deviceId: 'žluťoučký 🐎 "quoted" \\ \u0000',
      });
      expect(await store.publish(aPublication(session, { ageMs: LONG_MS }), leased)).toBe('published');
      await advance(SHORT_MS);
      const { stored } = await stateOf(other);
      if (stored.kind !== 'session') throw new Error('there must be a session');
      expect(stored.session).toEqual(session);
      expectAged(stored.ageMs, LONG_MS + SHORT_MS);
    });

    it('sets the next due moment and frees the lease', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(store);
      await store.publish(publicationOf(leased, { nextDueInMs: SHORT_MS }), leased);
      expect(await store.release(leased, { called: true, nextDueInMs: 0 })).toBe(false);
      const state = await stateOf(other);
      expectAbout(state.dueInMs, SHORT_MS);
      expect(await other.claim(aClaim({ owner: 'replica-2', newerThan: leased.fence }))).toMatchObject({
        kind: 'not_due',
      });
      await letPass(bench());
      expect((await other.due(1)).merchants).toEqual(['shop']);
      expect((await lease(other, { owner: 'replica-2', newerThan: leased.fence })).fence).toBeGreaterThan(leased.fence);
    });

    it('is fenced even when the newer lease was given up', async () => {
      const [store, other] = bench().replicas;
      const late = await lease(store, { leaseMs: SHORT_MS });
      await letPass(bench());
      await giveUp(other, { owner: 'replica-2' }, { called: false });
      expect(await store.publish(publicationOf(late), late)).toBe('fenced');
    });

    it('is still taken after the end of the lease while nobody else was granted one', async () => {
      const [store] = bench().replicas;
      const leased = await lease(store, { leaseMs: SHORT_MS });
      await letPass(bench());
      expect(await store.publish(publicationOf(leased), leased)).toBe('published');
      expect((await store.due(1)).merchants).toEqual([]);
    });

    it('frees no lease of another owner, even if a store that has lost its records gave both one number', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(store);
      const namesake: Lease = { ...leased, owner: 'replica-2' };
      expect(await other.publish(publicationOf(namesake), namesake)).toBe('published');
      expect(await other.release(namesake, { called: true, nextDueInMs: 0 })).toBe(false);
      expect(await store.release(leased, { called: true, nextDueInMs: 0 })).toBe(true);
    });

    it('answers the same publication again without applying it again', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(store);
      await store.publish(publicationOf(leased, { nextDueInMs: 0 }), leased);
      const newer = await lease(other, { owner: 'replica-2', newerThan: leased.fence });
      expect(await store.publish(publicationOf(leased, { nextDueInMs: 0 }), leased)).toBe('published');
      expect((await store.due(1)).merchants).toEqual([]);
      expect(await other.release(newer, { called: false, nextDueInMs: 0 })).toBe(true);
    });

    it('refuses a session of another generation or merchant than its lease, and a generation that is none', async () => {
      const [store] = bench().replicas;
      const leased = await lease(store);
      const refusal = { code: 'internal_error' };
      for (const wrong of [{ generation: leased.fence + 1 }, { merchant: 'second' }]) {
        const publication = aPublication(sessionOf(leased, wrong));
        await expect(store.publish(publication, leased)).rejects.toMatchObject(refusal);
      }
      for (const generation of [0, -1, 4_713.5, Number.NaN, 2 ** 53]) {
        await expect(store.publish(aPublication(aSession({ generation })))).rejects.toMatchObject(refusal);
      }
    });
  });

  describe('publish without a lease', () => {
    /** Of a session that the store has lost, or that outlived its lease. */
    const lost = (generation: number): Publication => aPublication(aSession({ generation }), { nextDueInMs: LONG_MS });

    it('sets the next due moment and clears the failures before it', async () => {
      const [store, other] = bench().replicas;
      await failOnce(store, 0);
      const { fence } = await giveUp(store);
      await store.publish(lost(fence + 1));
      const state = await stateOf(other);
      expectAbout(state.dueInMs, LONG_MS);
      expect(state.failure).toBeUndefined();
      expect((await lease(other, { newerThan: fence + 1 })).failures).toBe(0);
    });

    it('frees the lease of its own number', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(store);
      expect(await store.publish(publicationOf(leased))).toBe('published');
      expect(await store.release(leased, { called: true, nextDueInMs: 0 })).toBe(false);
      expect(await other.claim(byOther({ newerThan: leased.fence }))).toMatchObject({ kind: 'claimed' });
    });

    it('leaves an older lease of somebody else and its due moment as they are, and fences what that makes', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(other, { owner: 'replica-2' });
      expect(await store.publish({ ...lost(leased.fence + 1), nextDueInMs: 0 })).toBe('published');
      expectAbout((await stateOf(store)).dueInMs, LONG_MS);
      const claim = aClaim({ mode: 'when_wanted', newerThan: leased.fence + 1 });
      expect(await store.claim(claim)).toMatchObject({ kind: 'held' });
      expect(await other.publish(publicationOf(leased), leased)).toBe('fenced');
      expect(await other.publish(publicationOf(leased))).toBe('fenced');
      expect(await other.release(leased, { called: true, nextDueInMs: 0 })).toBe(true);
    });
  });

  describe('release', () => {
    it('counts failures without a call up to five, and every one with a call', async () => {
      const [store] = bench().replicas;
      const failed = async (called: boolean): Promise<Lease> =>
        giveUp(store, { mode: 'when_wanted' }, { called, failure: aRecordedFailure() });
      await failed(false);
      expect((await failed(false)).failures).toBe(1);
      for (let attempt = 0; attempt < 12; attempt += 1) await failed(false);
      expect((await failed(true)).failures).toBe(5);
      expect((await failed(false)).failures).toBe(6);
      expect((await lease(store)).failures).toBe(6);
    });

    it('does nothing once the lease has ended or belongs to somebody else', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(store, { leaseMs: SHORT_MS });
      await letPass(bench());
      const release = { called: true, nextDueInMs: LONG_MS, failure: aRecordedFailure() };
      expect(await store.release(leased, release)).toBe(false);
      const newer = await lease(other, { owner: 'replica-2' });
      expect(await store.release(leased, release)).toBe(false);
      expect(await store.release({ ...newer, owner: leased.owner }, release)).toBe(false);
      expect(newer.failures).toBe(0);
      expect(await other.release(newer, { called: true, nextDueInMs: 0 })).toBe(true);
    });

    it('shows the last failure to every replica, and never touches the session that is served', async () => {
      const [store, other] = bench().replicas;
      const first = await lease(store);
      await store.publish(publicationOf(first, { nextDueInMs: 0 }), first);
      const { msgCode: _none, ...withoutCode } = aRecordedFailure({ kind: 'timeout' });
      for (const failure of [aRecordedFailure({ msgCode: 'b_unknown_error' }), withoutCode]) {
        const leased = await lease(store, { newerThan: first.fence });
        await store.release(leased, { called: true, nextDueInMs: 0, failure });
        const state = await stateOf(other);
        expect(state.failure).toEqual(failure);
        expect(state.stored).toMatchObject({ session: { generation: first.fence } });
      }
    });
  });
}
