import { aDeathReport } from '../builders.js';
import { nextOf } from './announcement-contract.js';
import {
  type Bench,
  byOther,
  expectAged,
  giveUp,
  lease,
  publicationOf,
  publishOnce,
  stateOf,
} from './store-under-test.js';

export function describeReport(bench: Bench): void {
  describe('report', () => {
    it('is told to everybody who reads, whether they have the session already or not', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      expect(await stateOf(other)).not.toHaveProperty('reportedDead');
      const report = aDeathReport({ generation, ageMs: 600_000 });
      expect(await store.report('shop', report)).toEqual({ isKept: true, diedEarly: false });
      for (const known of [0, generation]) {
        const { reportedDead } = await stateOf(other, 'shop', known);
        expect(reportedDead).toEqual({ generation, ageMs: expect.any(Number), diedEarly: false });
        // From the report on, however late the store hears of it.
        expectAged(reportedDead?.ageMs, 600_000);
      }
    });

    it('is announced each time, as something to be read', async () => {
      const [store, other] = bench().replicas;
      const published = nextOf(other, 'shop');
      const generation = await publishOnce(store);
      await published;
      for (const reporter of [store, store, other]) {
        const heard = nextOf(other, 'shop');
        await reporter.report('shop', aDeathReport({ generation }));
        expect(await heard).toEqual({ kind: 'changed', merchant: 'shop' });
      }
    });

    it('is replaced by the next report, but not what it has proven', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      const proof = aDeathReport({ generation, mayProve: true });
      expect(await store.report('shop', proof)).toEqual({ isKept: true, diedEarly: true });
      const last = { generation, ageMs: 0, mayProve: false };
      expect(await other.report('shop', last)).toEqual({ isKept: true, diedEarly: true });
      expect((await stateOf(store)).reportedDead).toEqual({ generation, ageMs: expect.any(Number), diedEarly: true });
    });

    it('proves nothing once a lease was granted: whatever was called under it may have ended the session', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      await lease(other, { owner: 'replica-2' });
      const again = await publishOnce(store, 'second');
      await giveUp(other, { merchant: 'second' });
      const reports = { shop: generation, second: again };
      for (const [merchant, its] of Object.entries(reports)) {
        const answer = await store.report(merchant, aDeathReport({ generation: its, mayProve: true }));
        expect(answer).toEqual({ isKept: true, diedEarly: false });
      }
    });

    it('says nothing about the session that comes next', async () => {
      const [store, other] = bench().replicas;
      const report = aDeathReport({ generation: await publishOnce(store), mayProve: true });
      await store.report('shop', report);
      const generation = await publishOnce(store);
      for (const known of [0, generation]) {
        expect(await stateOf(other, 'shop', known)).not.toHaveProperty('reportedDead');
      }
      expect(await store.report('shop', aDeathReport({ generation }))).toEqual({ isKept: true, diedEarly: false });
    });

    it('is not kept for any generation but the stored one', async () => {
      const [store] = bench().replicas;
      const notKept = { isKept: false, diedEarly: false };
      expect(await store.report('shop', aDeathReport({ mayProve: true }))).toEqual(notKept);
      const generation = await publishOnce(store);
      for (const other of [generation - 1, generation + 1]) {
        expect(await store.report('shop', aDeathReport({ generation: other, mayProve: true }))).toEqual(notKept);
      }
      expect(await stateOf(store)).not.toHaveProperty('reportedDead');
    });

    it('changes nothing of what a claim is answered, nor of what its lease may do', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      const leased = await lease(other, { owner: 'replica-2' });
      await store.report('shop', aDeathReport({ generation, mayProve: true }));
      expect(await other.claim(byOther({ newerThan: generation - 1 }))).toMatchObject({ kind: 'already_newer' });
      expect(await other.publish(publicationOf(leased), leased)).toBe('published');
    });
  });
}
