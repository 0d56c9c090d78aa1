import { anOffer, aSession } from '../builders.js';
import { nextOf } from './announcement-contract.js';
import {
  type Bench,
  byOther,
  giveUp,
  lease,
  LONG_MS,
  publicationOf,
  publishOnce,
  stateOf,
} from './store-under-test.js';

export function describeCondemn(bench: Bench): void {
  describe('condemn', () => {
    it('is told to everybody who reads, whether they have the session already or not', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      expect(await stateOf(other)).not.toHaveProperty('condemned');
      expect(await store.condemn('shop', generation)).toBe(true);
      for (const known of [0, generation]) {
        expect(await stateOf(other, 'shop', known)).toMatchObject({ condemned: generation });
      }
    });

    it('is announced once, as something to be read', async () => {
      const [store, other] = bench().replicas;
      const published = nextOf(other, 'shop');
      const generation = await publishOnce(store);
      await published;
      const heard = nextOf(other, 'shop');
      await store.condemn('shop', generation);
      expect(await heard).toEqual({ kind: 'changed', merchant: 'shop' });
      const last = nextOf(other, 'shop');
      expect(await other.condemn('shop', generation)).toBe(true);
      const offered = generation + 1;
      await store.offer(anOffer(aSession({ generation: offered }), { known: generation }));
      expect(await last).toMatchObject({ generation: offered });
    });

    it('says nothing about the session that comes next', async () => {
      const [store, other] = bench().replicas;
      await store.condemn('shop', await publishOnce(store));
      const generation = await publishOnce(store);
      expect(await stateOf(other)).not.toHaveProperty('condemned');
      expect(await stateOf(other, 'shop', generation)).not.toHaveProperty('condemned');
    });

    it('is refused for every generation but the stored one', async () => {
      const [store] = bench().replicas;
      expect(await store.condemn('shop', 1)).toBe(false);
      const generation = await publishOnce(store);
      for (const other of [generation - 2, generation + 2]) expect(await store.condemn('shop', other)).toBe(false);
      expect(await stateOf(store)).not.toHaveProperty('condemned');
    });

    it('is refused once a lease was granted: whatever was called under it may have ended the session', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      await lease(other, { owner: 'replica-2', leaseMs: LONG_MS });
      expect(await store.condemn('shop', generation)).toBe(false);
      const again = await publishOnce(store, 'second');
      await giveUp(other, { merchant: 'second' });
      expect(await store.condemn('second', again)).toBe(false);
    });

    it('is refused for a session that is contested', async () => {
      const [store] = bench().replicas;
      const generation = await publishOnce(store);
      const offered = { session: aSession({ generation: generation + 1 }), known: generation - 1 };
      expect(await store.offer(anOffer(offered.session, offered))).toMatchObject({ isContested: true });
      expect(await store.condemn('shop', generation + 1)).toBe(false);
    });

    it('changes nothing of what a claim is answered', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      await store.condemn('shop', generation);
      expect(await other.claim(byOther({ newerThan: generation - 1 }))).toMatchObject({ kind: 'already_newer' });
      const leased = await lease(other, { owner: 'replica-2' });
      expect(await other.publish(leased, publicationOf(leased))).toBe('published');
    });
  });
}
