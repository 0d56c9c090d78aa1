import { aClaim } from '../builders.js';
import { type Bench, enrol, expectAbout, giveUp, lease, letPass, LONG_MS, SHORT_MS } from './store-under-test.js';

const MINUTE_MS = 60_000;

export function describeDue(bench: Bench): void {
  describe('due moments', () => {
    it('lets a merchant that is read for the first time fall due at once, on every replica', async () => {
      const [store, other] = bench().replicas;
      await enrol(store, 'shop');
      expect(await other.due(10)).toEqual({ merchants: ['shop'] });
    });

    it('has nothing due and nothing next while no merchant is known', async () => {
      const [store] = bench().replicas;
      await enrol(store);
      expect(await store.due(10)).toEqual({ merchants: [] });
    });

    it('keeps the due moment of a merchant that is read again', async () => {
      const [store, other] = bench().replicas;
      await giveUp(store, {}, { nextDueInMs: LONG_MS });
      await enrol(other, 'shop', 'second');
      const due = await store.due(10);
      expect(due.merchants).toEqual(['second']);
      expectAbout(due.nextDueInMs, LONG_MS);
    });

    it('lists the longest due first, up to the limit, and says that the next is due already', async () => {
      const { replicas, advance } = bench();
      const [store] = replicas;
      for (const merchant of ['c', 'a', 'b']) {
        await enrol(store, merchant);
        // Shards are asked at once, and not answered at once: moments that lie closer are in no order.
        await advance(MINUTE_MS);
      }
      expect(await store.due(2)).toEqual({ merchants: ['c', 'a'], nextDueInMs: 0 });
      expect(await store.due(3)).toEqual({ merchants: ['c', 'a', 'b'] });
    });

    it('goes on listing a merchant until it is claimed', async () => {
      const [store] = bench().replicas;
      await enrol(store, 'shop');
      await store.due(10);
      expect((await store.due(10)).merchants).toEqual(['shop']);
    });

    it('moves the due moment of a claimed merchant to the end of its lease', async () => {
      const [store, other] = bench().replicas;
      await enrol(store, 'shop');
      await lease(store, { mode: 'when_due', leaseMs: SHORT_MS });
      const due = await other.due(10);
      expect(due.merchants).toEqual([]);
      expectAbout(due.nextDueInMs, SHORT_MS);
      await letPass(bench());
      expect((await other.due(10)).merchants).toEqual(['shop']);
    });

    it('keeps many merchants apart', async () => {
      const [store] = bench().replicas;
      const merchants = Array.from({ length: 300 }, (_, index) => `merchant-${index}`);
      await enrol(store, ...merchants);
      expect([...(await store.due(1_000)).merchants].sort()).toEqual([...merchants].sort());
      await Promise.all(merchants.slice(1).map((merchant) => store.claim(aClaim({ merchant, leaseMs: LONG_MS }))));
      expect((await store.due(1_000)).merchants).toEqual(['merchant-0']);
    });

    it('takes any text as a merchant id', async () => {
      const [store] = bench().replicas;
      const merchants = ['a{b}c', '{}', 'x:y:z', 'zażółć 🛒', '__proto__', ' '];
      await enrol(store, ...merchants);
      expect([...(await store.due(10)).merchants].sort()).toEqual([...merchants].sort());
      const claimed = await Promise.all(merchants.map((merchant) => lease(store, { merchant })));
      expect(claimed.map(({ merchant }) => merchant)).toEqual(merchants);
    });
  });
}
