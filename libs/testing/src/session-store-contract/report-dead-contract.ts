import { aDeathReport } from '../builders.js';
import { nextOf } from './announcement-contract.js';
import { type Bench, byOther, expectAged, lease, publicationOf, publishOnce, stateOf } from './store-under-test.js';

export function describeReportDead(bench: Bench): void {
  describe('reportDead', () => {
    it('is told to everybody who reads, whether they have the session already or not', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      expect(await stateOf(other)).not.toHaveProperty('reportedDead');
      const report = aDeathReport({ generation, heldUp: { by: 'budget', forMs: 60_000 } });
      expect(await store.reportDead('shop', report)).toBe(true);
      for (const known of [0, generation]) {
        const { reportedDead } = await stateOf(other, 'shop', known);
        expect(reportedDead).toMatchObject({ generation, heldUp: { by: 'budget', forMs: 60_000 } });
        expectAged(reportedDead?.ageMs, 0);
      }
    });

    it('is announced each time, as something to be read', async () => {
      const [store, other] = bench().replicas;
      const published = nextOf(other, 'shop');
      const generation = await publishOnce(store);
      await published;
      for (const reporter of [store, store, other]) {
        const heard = nextOf(other, 'shop');
        await reporter.reportDead('shop', aDeathReport({ generation }));
        expect(await heard).toEqual({ kind: 'changed', merchant: 'shop' });
      }
    });

    it('counts from the report on, however late the store hears of it', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      await store.reportDead('shop', aDeathReport({ generation, ageMs: 600_000 }));
      const { reportedDead } = await stateOf(other);
      expectAged(reportedDead?.ageMs, 600_000);
    });

    it('is replaced by the next report, with all that the one before it had named', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      await store.reportDead('shop', aDeathReport({ generation }));
      await other.reportDead('shop', { generation, ageMs: 0 });
      const { reportedDead } = await stateOf(store);
      expect(reportedDead).toEqual({ generation, ageMs: expect.any(Number) });
      await store.reportDead('shop', aDeathReport({ generation }));
      expect((await stateOf(other)).reportedDead).toMatchObject({ heldUp: { by: 'cool_down', forMs: 10_000 } });
    });

    it('says nothing about the session that comes next', async () => {
      const [store, other] = bench().replicas;
      await store.reportDead('shop', aDeathReport({ generation: await publishOnce(store) }));
      const generation = await publishOnce(store);
      for (const known of [0, generation]) {
        expect(await stateOf(other, 'shop', known)).not.toHaveProperty('reportedDead');
      }
    });

    it('is refused for every generation but the stored one', async () => {
      const [store] = bench().replicas;
      expect(await store.reportDead('shop', aDeathReport())).toBe(false);
      const generation = await publishOnce(store);
      for (const other of [generation - 2, generation + 2]) {
        expect(await store.reportDead('shop', aDeathReport({ generation: other }))).toBe(false);
      }
      expect(await stateOf(store)).not.toHaveProperty('reportedDead');
    });

    it('is taken while a lease runs, and changes nothing of what a claim is answered', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      const leased = await lease(other, { owner: 'replica-2' });
      expect(await store.reportDead('shop', aDeathReport({ generation }))).toBe(true);
      expect(await other.claim(byOther({ newerThan: generation - 1 }))).toMatchObject({ kind: 'already_newer' });
      expect(await other.publish(leased, publicationOf(leased))).toBe('published');
    });
  });
}
