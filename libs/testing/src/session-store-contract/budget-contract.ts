import { aBudget, aClaim } from '../builders.js';
import {
  type Bench,
  byOther,
  expectRefusal,
  giveUp,
  lease,
  LONG_MS,
  publishOnce,
  SHORT_MS,
} from './store-under-test.js';

const HOUR_MS = 3_600_000;
const WINDOW_MS = 2 * SHORT_MS;

export function describeBudget(bench: Bench): void {
  describe('the budget of create calls', () => {
    const budget = aBudget({ calls: 2, perMs: WINDOW_MS });

    it('is a number of calls in any window, over all replicas, per merchant', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      await giveUp(store, { budget });
      await advance(WINDOW_MS / 2);
      await giveUp(other, { budget });
      expectRefusal(await other.claim(byOther({ budget })), 'budget_exhausted', WINDOW_MS / 2);
      expect(await other.claim(byOther({ budget, merchant: 'second' }))).toMatchObject({ kind: 'claimed' });
      await advance(WINDOW_MS / 2);
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget }))).toMatchObject({ kind: 'claimed' });
    });

    it('is given one call back when the gateway was never called', async () => {
      const [store] = bench().replicas;
      const single = aBudget({ calls: 1 });
      await giveUp(store, { budget: single }, { called: false });
      await giveUp(store, { budget: single });
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: single }))).toMatchObject({
        kind: 'budget_exhausted',
      });
    });

    it('is given back that call and no other, however many were made', async () => {
      const [store] = bench().replicas;
      const three = aBudget({ calls: 3 });
      await giveUp(store, { budget: three });
      await giveUp(store, { budget: three }, { called: false });
      await giveUp(store, { budget: three });
      await giveUp(store, { budget: three });
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: three }))).toMatchObject({
        kind: 'budget_exhausted',
      });
    });

    it('counts each call even where two had the same number', async () => {
      const [store] = bench().replicas;
      const two = aBudget({ calls: 2 });
      const beyondBelief = 8_999_999_999_999_998;
      const first = await giveUp(store, { budget: two, floor: beyondBelief });
      await giveUp(store, { budget: aBudget({ calls: 20 }) }, { called: false });
      const second = await giveUp(store, { budget: two, floor: beyondBelief });
      expect(second.fence).toBe(first.fence);
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: two }))).toMatchObject({
        kind: 'budget_exhausted',
      });
    });

    it('is given nothing back by a lease that has been spent, nor by one that was released before', async () => {
      const [store] = bench().replicas;
      const two = aBudget({ calls: 2 });
      const first = await lease(store, { budget: two });
      const second = await lease(store, { budget: two, floor: first.fence });
      await store.release(first, { called: false, nextDueInMs: 0 });
      await store.release(second, { called: true, nextDueInMs: 0 });
      await store.release(second, { called: false, nextDueInMs: 0 });
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: two }))).toMatchObject({
        kind: 'budget_exhausted',
      });
    });

    it('is not cleared by a publication', async () => {
      const [store] = bench().replicas;
      const newerThan = await publishOnce(store);
      const claim = aClaim({ mode: 'when_wanted', newerThan, budget: aBudget({ calls: 1 }) });
      expect(await store.claim(claim)).toMatchObject({ kind: 'budget_exhausted' });
    });

    it('is not exceeded by watching it', async () => {
      const [store] = bench().replicas;
      const single = aBudget({ calls: 1, perMs: LONG_MS });
      await giveUp(store, { budget: single });
      const watched = expectRefusal(
        await store.claim(aClaim({ mode: 'when_wanted', budget: single })),
        'budget_exhausted',
        LONG_MS,
      );
      const again = await store.claim(aClaim({ mode: 'when_wanted', budget: single, watched }));
      expect(expectRefusal(again, 'budget_exhausted', LONG_MS)).toBe(watched);
    });

    it('has no call that counts for longer than a window, even when the clock was set back', async () => {
      const { replicas, advance, setBack } = bench();
      const [store, other] = replicas;
      await giveUp(store, { budget });
      await giveUp(store, { budget });
      await setBack(HOUR_MS);
      const watched = expectRefusal(await other.claim(byOther({ budget })), 'budget_exhausted', WINDOW_MS);
      const again = await other.claim(byOther({ budget }));
      expect(expectRefusal(again, 'budget_exhausted', WINDOW_MS)).toBe(watched);
      await advance(WINDOW_MS / 2);
      expectRefusal(await other.claim(byOther({ budget })), 'budget_exhausted', WINDOW_MS / 2);
      await advance(WINDOW_MS / 2);
      expect(await other.claim(byOther({ budget }))).toMatchObject({ kind: 'claimed' });
    });

    it('counts a call that was made before the clock was set back from the next question on', async () => {
      const { replicas, advance, setBack } = bench();
      const [store] = replicas;
      const single = aBudget({ calls: 1, perMs: SHORT_MS });
      await giveUp(store, { budget: single });
      await setBack(HOUR_MS);
      await advance(SHORT_MS);
      expectRefusal(await store.claim(aClaim({ mode: 'when_wanted', budget: single })), 'budget_exhausted', SHORT_MS);
    });

    it('is given back a call that was made before the clock was set back', async () => {
      const { replicas, setBack } = bench();
      const [store] = replicas;
      const single = aBudget({ calls: 1, perMs: LONG_MS });
      const spent = await lease(store, { budget: single });
      await setBack(HOUR_MS);
      const { fence: floor } = spent;
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: single, floor }))).toMatchObject({
        kind: 'budget_exhausted',
      });
      expect(await store.release(spent, { called: false, nextDueInMs: 0 })).toBe(true);
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: single }))).toMatchObject({ kind: 'claimed' });
    });

    it('tells when the first call is free again after it was lowered', async () => {
      const { replicas, advance } = bench();
      const [store] = replicas;
      const perMs = LONG_MS;
      for (let call = 0; call < 3; call += 1) {
        await giveUp(store, { budget: aBudget({ perMs }) });
        await advance(SHORT_MS);
      }
      const refused = await store.claim(aClaim({ mode: 'when_wanted', budget: aBudget({ calls: 1, perMs }) }));
      expectRefusal(refused, 'budget_exhausted', perMs - SHORT_MS);
    });
  });
}
