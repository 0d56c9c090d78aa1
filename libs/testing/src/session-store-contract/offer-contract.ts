import type { Lease, Offer } from '#libs/session';
import { aClaim, anOffer, aPublication, aSession } from '../builders.js';
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
  publishOnce,
  SHORT_MS,
  stateOf,
} from './store-under-test.js';

/** A session that was made without a lease by a replica that knew of `known` and of nothing after it. */
const madeAlone = (known: number): Offer => anOffer(aSession({ generation: known + 1 }), { known });

/** A session that was made under a lease but could not be published. */
const madeUnder = (leased: Lease, known = 0): Offer => ({ ...publicationOf(leased), known });

export function describeOffer(bench: Bench): void {
  describe('offer', () => {
    it('is taken where there is nothing, whole and exact, with its age', async () => {
      const [store, other] = bench().replicas;
      const offer = { ...madeAlone(4_710), ageMs: 7_200_000 };
      expect(await store.offer(offer)).toEqual({ kind: 'taken', generation: 4_711, isContested: false });
      const { stored } = await stateOf(other);
      if (stored.kind !== 'session') throw new Error('there must be a session');
      expect(stored.session).toEqual(offer.session);
      expectAged(stored.ageMs, 7_200_000);
    });

    it('is taken over the session that its maker knew of', async () => {
      const [store] = bench().replicas;
      const known = await publishOnce(store);
      const offer = madeAlone(known);
      expect(await store.offer(offer)).toEqual({ kind: 'taken', generation: known + 1, isContested: false });
      expect((await stateOf(store)).stored).toMatchObject({ session: { generation: known + 1 } });
    });

    it('sets the next due moment and clears the failures before it', async () => {
      const [store, other] = bench().replicas;
      await failOnce(store, 0);
      const { fence } = await giveUp(store);
      await store.offer({ ...madeAlone(fence), nextDueInMs: LONG_MS });
      const state = await stateOf(other);
      expectAbout(state.dueInMs, LONG_MS);
      expect(state.failure).toBeUndefined();
      expect((await lease(other, { newerThan: fence + 1 })).failures).toBe(0);
    });

    it('makes a merchant that was never enrolled fall due', async () => {
      const [store, other] = bench().replicas;
      await store.offer({ ...madeAlone(4_710), nextDueInMs: SHORT_MS });
      await letPass(bench());
      expect((await other.due(10)).merchants).toEqual(['shop']);
    });

    it('answers the same again, and applies it once', async () => {
      const { replicas, tick } = bench();
      const [store, other] = replicas;
      const offer = madeAlone(4_710);
      const first = await store.offer({ ...offer, nextDueInMs: LONG_MS });
      await tick();
      expect(await other.offer({ ...offer, nextDueInMs: 0, ageMs: 30 })).toEqual(first);
      const state = await stateOf(store);
      expectAbout(state.dueInMs, LONG_MS);
    });

    it('answers the same again to an offer of what was published', async () => {
      const [store] = bench().replicas;
      const leased = await lease(store);
      await store.publish(leased, publicationOf(leased));
      expect(await store.offer(madeUnder(leased))).toEqual({
        kind: 'taken',
        generation: leased.fence,
        isContested: false,
      });
    });

    it('says again that it was contested, since the first answer may have been lost', async () => {
      const [store, other] = bench().replicas;
      const { fence } = await giveUp(other, { owner: 'replica-2' });
      const offer = anOffer(aSession({ generation: fence + 1 }));
      const first = await store.offer(offer);
      expect(first).toEqual({ kind: 'taken', generation: fence + 1, isContested: true });
      expect(await store.offer(offer)).toEqual(first);
    });

    it('is not contested by a lease whose session it came after, however little its maker knows by then', async () => {
      const [store] = bench().replicas;
      const leased = await lease(store);
      await store.publish(leased, publicationOf(leased));
      const session = aSession({ generation: leased.fence + 1 });
      const taken = { kind: 'taken', generation: leased.fence + 1, isContested: false };
      expect(await store.offer(anOffer(session, { known: leased.fence }))).toEqual(taken);
      expect(await store.offer(anOffer(session, { known: 0 }))).toEqual(taken);
    });

    it('frees its own lease, even when it was made under that and never published', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(store);
      expect(await store.offer(madeUnder(leased))).toEqual({
        kind: 'taken',
        generation: leased.fence,
        isContested: false,
      });
      expect(await store.release(leased, { called: true, nextDueInMs: 0 })).toBe(false);
      expect(await other.claim(byOther({ newerThan: leased.fence }))).toMatchObject({ kind: 'claimed' });
    });

    it('raises the fence: what was made under an older lease is fenced, and the next lease is above it', async () => {
      const [store, other] = bench().replicas;
      const late = await lease(store, { leaseMs: SHORT_MS });
      await letPass(bench());
      await other.offer(madeAlone(late.fence));
      expect(await store.publish(late, publicationOf(late))).toBe('fenced');
      expect((await lease(other, { newerThan: late.fence + 1 })).fence).toBeGreaterThan(late.fence + 1);
    });

    it('is not a publication: an even generation and an odd one are both taken, anything else is our mistake', async () => {
      const [store] = bench().replicas;
      for (const generation of [4_711, 4_712]) {
        expect((await store.offer(anOffer(aSession({ generation }), { known: generation - 1 }))).kind).toBe('taken');
      }
      for (const generation of [0, -1, 4_713.5, Number.NaN, 2 ** 53]) {
        await expect(store.offer(anOffer(aSession({ generation })))).rejects.toMatchObject({ code: 'internal_error' });
      }
    });
  });

  describe('offer: beside a lease of somebody else', () => {
    it('is taken, is contested, and leaves the lease and its due moment as they are', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(other, { owner: 'replica-2' });
      const before = await stateOf(store);
      const offer = madeAlone(leased.fence);
      const taken = { kind: 'taken', generation: leased.fence + 1, isContested: true };
      expect(await store.offer({ ...offer, nextDueInMs: 0 })).toEqual(taken);
      expect(await store.offer({ ...offer, nextDueInMs: 0 })).toEqual(taken);
      expect((await stateOf(store)).dueMark).toBe(before.dueMark);
      expect(await store.claim(aClaim({ mode: 'when_wanted', newerThan: leased.fence + 1 }))).toMatchObject({
        kind: 'held',
      });
      expect(await other.release(leased, { called: true, nextDueInMs: 0 })).toBe(true);
    });

    it('is contested also when it comes again after that lease has ended', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(other, { owner: 'replica-2' });
      const offer = madeAlone(leased.fence);
      const taken = await store.offer(offer);
      await other.release(leased, { called: true, nextDueInMs: 0 });
      expect(await store.offer(offer)).toEqual(taken);
      expect(taken.isContested).toBe(true);
    });

    it('fences the session that was being made, which is then refused as an offer as well', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(other, { owner: 'replica-2' });
      await store.offer(madeAlone(leased.fence));
      expect(await other.publish(leased, publicationOf(leased))).toBe('fenced');
      expect(await other.offer(madeUnder(leased))).toEqual({
        kind: 'refused',
        generation: leased.fence + 1,
        isContested: true,
      });
    });

    it('is no longer contested once that lease has ended and was known to its maker', async () => {
      const [store, other] = bench().replicas;
      const { fence } = await giveUp(other, { owner: 'replica-2' });
      expect(await store.offer(madeAlone(fence))).toMatchObject({ isContested: false });
    });
  });

  describe('offer: refused', () => {
    it('by a newer session, which is named', async () => {
      const [store] = bench().replicas;
      const generation = await publishOnce(store);
      const older = anOffer(aSession({ generation: generation - 1 }), { known: generation - 8 });
      expect(await store.offer(older)).toEqual({ kind: 'refused', generation, isContested: true });
      expect((await stateOf(store)).stored).toMatchObject({ session: { generation } });
    });

    it('by a newer lease, whose session is being made', async () => {
      const [store, other] = bench().replicas;
      const { fence } = await lease(other, { owner: 'replica-2' });
      expect(await store.offer(anOffer(aSession({ generation: fence - 1 })))).toEqual({
        kind: 'refused',
        generation: fence,
        isContested: true,
      });
      expect((await stateOf(store)).stored).toEqual({ kind: 'absent' });
    });

    it('by a newer lease that has ended, since nobody can know whether a call was made under it', async () => {
      const [store, other] = bench().replicas;
      const { fence } = await giveUp(other, { owner: 'replica-2' });
      expect(await store.offer(anOffer(aSession({ generation: fence - 1 })))).toMatchObject({
        kind: 'refused',
        generation: fence,
      });
    });

    it('changes nothing', async () => {
      const [store] = bench().replicas;
      const generation = await publishOnce(store);
      const before = await stateOf(store);
      await store.offer({ ...aPublication(aSession({ generation: generation - 1 })), nextDueInMs: 0, known: 0 });
      const after = await stateOf(store);
      expect(after.dueMark).toBe(before.dueMark);
      expect((await store.due(1)).merchants).toEqual([]);
    });
  });
}
