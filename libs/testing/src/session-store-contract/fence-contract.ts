import { aClaim, aPublication, aSession } from '../builders.js';
import { type Bench, byOther, giveUp, lease, LONG_MS, publicationOf } from './store-under-test.js';

/** Any of our clocks is past this; a fence that counts from one is not. */
const AFTER_2023_MS = 1_704_067_200_000;
const TEN_YEARS_MS = 10 * 366 * 86_400_000;

export function describeFences(bench: Bench): void {
  describe('fences', () => {
    it('begin at the clock, so that an empty store does not begin at one', async () => {
      const [store] = bench().replicas;
      const { fence } = await lease(store);
      expect(Number.isSafeInteger(fence)).toBe(true);
      expect(fence).toBeGreaterThan(AFTER_2023_MS);
    });

    it('are the first number above the floor, even when the clock is behind it', async () => {
      const [store] = bench().replicas;
      expect((await lease(store, { floor: 8_999_999_999_999_999 })).fence).toBe(9_000_000_000_000_000);
    });

    it('are above a generation that came without a lease', async () => {
      const [store] = bench().replicas;
      const generation = (await giveUp(store)).fence + 60_001;
      await store.publish(aPublication(aSession({ generation })));
      expect((await lease(store, { newerThan: generation })).fence).toBe(generation + 1);
    });

    it('are never granted twice, however fast leases come and go', async () => {
      const [store] = bench().replicas;
      const fences: number[] = [];
      for (let round = 0; round < 15; round += 1) fences.push((await giveUp(store, {}, { called: false })).fence);
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
    });

    it('leave room for those to come: a floor that does not is ignored', async () => {
      const [store] = bench().replicas;
      const { fence } = await lease(store, { floor: Number.MAX_SAFE_INTEGER });
      expect(fence).toBeLessThan(AFTER_2023_MS * 2);
    });

    it('beyond belief hold up no claim: the next one follows the clock', async () => {
      const [store] = bench().replicas;
      const { fence: first } = await giveUp(store);
      await giveUp(store, { floor: first + 2 * TEN_YEARS_MS });
      expect((await giveUp(store)).fence).toBeLessThan(first + TEN_YEARS_MS);
    });

    it('that are ahead of the clock and within belief are kept', async () => {
      const [store] = bench().replicas;
      const { fence: first } = await giveUp(store);
      await giveUp(store, { floor: first + TEN_YEARS_MS / 2 });
      expect((await giveUp(store)).fence).toBeGreaterThan(first + TEN_YEARS_MS / 2);
    });

    it('are believed, however high, by a replica that has seen them', async () => {
      const [store] = bench().replicas;
      const leased = await lease(store, { floor: 8_999_999_999_999_999 });
      await store.publish(publicationOf(leased), leased);
      const next = await lease(store, { newerThan: leased.fence, floor: leased.fence });
      expect(next.fence).toBe(leased.fence + 1);
    });
  });

  describe('a lease under which a call was made', () => {
    it('is spent: its holder is granted another, and that is another call', async () => {
      const [store] = bench().replicas;
      const budget = [{ calls: 2, perMs: LONG_MS }];
      const first = await lease(store, { budget });
      const second = await lease(store, { budget, floor: first.fence });
      expect(second.fence).toBeGreaterThan(first.fence);
      const third = await store.claim(aClaim({ mode: 'when_wanted', budget, floor: second.fence }));
      expect(third.kind).toBe('budget_exhausted');
    });

    it('is fenced by the one that follows it, and cannot be released any more', async () => {
      const [store] = bench().replicas;
      const first = await lease(store);
      const second = await lease(store, { floor: first.fence });
      expect(await store.publish(publicationOf(first), first)).toBe('fenced');
      expect(await store.release(first, { called: false, nextDueInMs: 0 })).toBe(false);
      expect(await store.publish(publicationOf(second), second)).toBe('published');
    });

    it('is still a lease for everybody else, whatever their floor', async () => {
      const [store, other] = bench().replicas;
      const { fence } = await lease(store);
      expect(await other.claim(byOther({ floor: fence }))).toMatchObject({ kind: 'held' });
    });

    it('is the same again for a holder whose floor is below it', async () => {
      const [store] = bench().replicas;
      const { fence } = await lease(store);
      expect((await lease(store, { floor: fence - 1 })).fence).toBe(fence);
    });

    it('leaves its due moment: a claim that waits for that is not due', async () => {
      const [store] = bench().replicas;
      const { fence } = await lease(store);
      expect(await store.claim(aClaim({ floor: fence }))).toMatchObject({ kind: 'not_due' });
    });
  });
}
