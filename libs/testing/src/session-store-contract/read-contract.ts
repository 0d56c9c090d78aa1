import { aClaim, aDeathReport } from '../builders.js';
import {
  type Bench,
  expectAbout,
  expectAged,
  lease,
  LONG_MS,
  publicationOf,
  publishOnce,
  SHORT_MS,
  stateOf,
} from './store-under-test.js';

const unknown = (merchant: string): { merchant: string; known: number } => ({ merchant, known: 0 });

export function describeRead(bench: Bench): void {
  describe('read', () => {
    it('answers in the order asked, and makes known whom it does not know', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store, 'b');
      const { states } = await other.read(['c', 'b', 'c'].map(unknown));
      const enrolled = { merchant: 'c', stored: { kind: 'absent' }, dueInMs: 0 };
      expect(states).toEqual([
        enrolled,
        expect.objectContaining({
          merchant: 'b',
          stored: expect.objectContaining({ session: expect.objectContaining({ generation }) }),
        }),
        enrolled,
      ]);
      expect((await store.due(10)).merchants).toEqual(['c']);
    });

    it('answers an empty question with its clock alone', async () => {
      const { states, now } = await bench().replicas[0].read([]);
      expect(states).toEqual([]);
      expect(now).toBeGreaterThan(0);
    });

    it('does not send what the reader has already, and tells its age', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      const known = await publishOnce(store);
      await advance(SHORT_MS);
      const { stored } = await stateOf(other, 'shop', known);
      if (stored.kind !== 'unchanged') throw new Error('the reader has it already');
      expectAged(stored.ageMs, SHORT_MS);
    });

    it('sends the session to a reader that has another one, be it older or newer', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      for (const known of [0, generation - 2, generation + 2]) {
        expect((await stateOf(other, 'shop', known)).stored).toMatchObject({
          kind: 'session',
          session: { generation },
        });
      }
    });

    it('is absent, and not unchanged, where there is nothing, whatever is known', async () => {
      const [store] = bench().replicas;
      expect((await stateOf(store, 'shop', 0)).stored).toEqual({ kind: 'absent' });
      expect((await stateOf(store, 'shop', 1_000)).stored).toEqual({ kind: 'absent' });
    });

    it('tells the due moment also where the session is unchanged', async () => {
      const [store, other] = bench().replicas;
      const known = await publishOnce(store);
      const state = await stateOf(other, 'shop', known);
      expectAbout(state.dueInMs, LONG_MS);
    });

    it('tells a clock that runs on', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      const { now: before } = await store.read([unknown('shop')]);
      await advance(SHORT_MS);
      // A real store's clock goes on by itself, and stands for less than a millisecond.
      let after = before;
      while (after === before) after = (await other.read([unknown('shop')])).now;
      expect(after).toBeGreaterThan(before);
    });

    it('reads many merchants at once', async () => {
      const [store, other] = bench().replicas;
      const merchants = Array.from({ length: 450 }, (_, index) => `merchant-${index}`);
      await publishOnce(store, 'merchant-400');
      const { states } = await other.read(merchants.map(unknown));
      expect(states.map(({ merchant }) => merchant)).toEqual(merchants);
      expect(states.filter(({ dueInMs }) => dueInMs === 0)).toHaveLength(449);
    });
  });

  describe('close', () => {
    it('ends the use of the store: every operation then fails as store_unavailable', async () => {
      const [store] = bench().replicas;
      const leased = await lease(store);
      await store.close();
      await store.close();
      const outcomes = await Promise.allSettled([
        store.due(1),
        store.claim(aClaim()),
        store.publish(publicationOf(leased), leased),
        store.release(leased, { called: true, nextDueInMs: 0 }),
        store.report('shop', aDeathReport({ generation: leased.fence })),
        store.read([unknown('shop')]),
      ]);
      const unavailable = { status: 'rejected', reason: expect.objectContaining({ code: 'store_unavailable' }) };
      expect(outcomes).toEqual(outcomes.map(() => unavailable));
    });
  });
}
