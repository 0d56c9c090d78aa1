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

    it('has no call that counts for longer than a window, even when the clock was set back', async () => {
      const { replicas, advance, setBack } = bench();
      const [store, other] = replicas;
      await giveUp(store, { budget });
      await giveUp(store, { budget });
      await setBack(HOUR_MS);
      expectRefusal(await other.claim(byOther({ budget })), 'budget_exhausted', WINDOW_MS);
      await advance(WINDOW_MS / 2);
      expectRefusal(await other.claim(byOther({ budget })), 'budget_exhausted', WINDOW_MS / 2);
      await advance(WINDOW_MS / 2);
      expect(await other.claim(byOther({ budget }))).toMatchObject({ kind: 'claimed' });
    });

    it('is given back a call that was made before the clock was set back', async () => {
      const { replicas, setBack } = bench();
      const [store] = replicas;
      const single = aBudget({ calls: 1, perMs: LONG_MS });
      const spent = await lease(store, { budget: single });
      await setBack(1_000);
      const { fence: floor } = spent;
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: single, floor }))).toMatchObject({
        kind: 'budget_exhausted',
      });
      expect(await store.release(spent, { called: false, nextDueInMs: 0 })).toBe(true);
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: single }))).toMatchObject({ kind: 'claimed' });
    });
  });

  describe('a budget of several windows', () => {
    const storm = { calls: 2, perMs: SHORT_MS };
    const day = { calls: 3, perMs: LONG_MS };
    const budget = [storm, day];

    it('refuses what any of its windows refuses, over all replicas, and remembers for the longest', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      await giveUp(store, { budget });
      await giveUp(other, { budget });
      expectRefusal(await other.claim(byOther({ budget })), 'budget_exhausted', SHORT_MS);
      await advance(SHORT_MS);
      await giveUp(store, { budget });
      // The short window has room for one more call; the long one has seen all three.
      expectRefusal(await other.claim(byOther({ budget })), 'budget_exhausted', LONG_MS - SHORT_MS);
    });

    it.each([
      ['in order', budget],
      ['the other way round', [day, storm]],
    ])('tells the longest of the waits and its window: %s', async (_order, windows) => {
      const [store] = bench().replicas;
      for (let call = 0; call < 3; call += 1) await giveUp(store, { budget: [day] });
      const refused = await store.claim(aClaim({ mode: 'when_wanted', budget: windows }));
      expectRefusal(refused, 'budget_exhausted', LONG_MS);
      expect(refused).toMatchObject({ perMs: LONG_MS });
    });
  });
}
