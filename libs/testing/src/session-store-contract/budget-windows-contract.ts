import { aClaim } from '../builders.js';
import { type Bench, byOther, expectRefusal, giveUp, LONG_MS, SHORT_MS } from './store-under-test.js';

export function describeBudgetWindows(bench: Bench): void {
  describe('a budget of several windows', () => {
    const storm = { calls: 2, perMs: SHORT_MS };
    const day = { calls: 3, perMs: LONG_MS };
    const budget = [storm, day];

    it('refuses what any of its windows refuses, over all replicas', async () => {
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

    it('tells the longest of the waits, whatever the order of its windows, and names it by one mark and its window', async () => {
      const [store] = bench().replicas;
      for (let call = 0; call < 3; call += 1) await giveUp(store, { budget: [day] });
      const claims = [budget, [day, storm]].map((windows) =>
        store.claim(aClaim({ mode: 'when_wanted', budget: windows })),
      );
      const answers = await Promise.all(claims);
      const [mark, other] = answers.map((one) => expectRefusal(one, 'budget_exhausted', LONG_MS));
      for (const answer of answers) expect(answer).toMatchObject({ perMs: LONG_MS });
      expect(mark).toBe(other);
    });

    it('remembers for its longest window what a shorter one has forgotten', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      for (let call = 0; call < 2; call += 1) {
        await giveUp(store, { budget });
        await advance(SHORT_MS);
      }
      await giveUp(other, { budget });
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget }))).toMatchObject({ kind: 'budget_exhausted' });
    });

    it('is given a call back in each of its windows', async () => {
      const [store] = bench().replicas;
      const tight = [
        { calls: 1, perMs: SHORT_MS },
        { calls: 1, perMs: LONG_MS },
      ];
      await giveUp(store, { budget: tight }, { called: false });
      await giveUp(store, { budget: tight });
      expectRefusal(await store.claim(aClaim({ mode: 'when_wanted', budget: tight })), 'budget_exhausted', LONG_MS);
    });

    it('keeps what it counts when a claim carries a smaller share of it', async () => {
      const [store] = bench().replicas;
      for (let call = 0; call < 3; call += 1) await giveUp(store, { budget: [day] });
      const share = [{ ...day, calls: 1 }];
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: share }))).toMatchObject({
        kind: 'budget_exhausted',
      });
      expect(await store.claim(aClaim({ mode: 'when_wanted', budget: [day] }))).toMatchObject({
        kind: 'budget_exhausted',
      });
    });
  });
}
