import { aClaim } from '../builders.js';
import {
  type Bench,
  byOther,
  expectAbout,
  expectRefusal,
  failOnce,
  giveUp,
  lease,
  letPass,
  LONG_MS,
  publishOnce,
  SHORT_MS,
  stateOf,
} from './store-under-test.js';

export function describeWatchedMoments(bench: Bench): void {
  describe('a moment that was watched to its end', () => {
    it('ends the lease of a replica that is gone, and fences it', async () => {
      const [store, other] = bench().replicas;
      const gone = await lease(store);
      const watched = expectRefusal(await other.claim(byOther()), 'held', LONG_MS);
      const next = await lease(other, { owner: 'replica-2', watched });
      expect(next.fence).toBeGreaterThan(gone.fence);
      expect(await store.release(gone, { called: true, nextDueInMs: 0 })).toBe(false);
    });

    it('ends with a lease the due moment that came with it', async () => {
      const [store, other] = bench().replicas;
      await failOnce(store, 0);
      await lease(store);
      const watched = expectRefusal(await other.claim(byOther()), 'held', LONG_MS);
      expect((await stateOf(other)).dueMark).toBe(watched);
      expect(await other.claim(byOther({ mode: 'when_due', watched }))).toMatchObject({ kind: 'claimed' });
    });

    it('makes a merchant due', async () => {
      const [store, other] = bench().replicas;
      const newerThan = await publishOnce(store);
      const watched = expectRefusal(await other.claim(aClaim({ newerThan })), 'not_due', LONG_MS);
      expect((await stateOf(store)).dueMark).toBe(watched);
      expect(await other.claim(aClaim({ newerThan, watched }))).toMatchObject({ kind: 'claimed' });
    });

    it('ends a back-off', async () => {
      const [store, other] = bench().replicas;
      await failOnce(store, LONG_MS);
      const watched = expectRefusal(await other.claim(byOther()), 'backing_off', LONG_MS);
      expect(await other.claim(byOther({ watched }))).toMatchObject({ kind: 'claimed' });
    });

    it('ends a cool-down', async () => {
      const [store, other] = bench().replicas;
      const coolDownMs = LONG_MS;
      await giveUp(store, { coolDownMs });
      const watched = expectRefusal(await other.claim(byOther({ coolDownMs })), 'cooled_down', LONG_MS);
      expect(await other.claim(byOther({ coolDownMs, watched }))).toMatchObject({ kind: 'claimed' });
    });

    it('ends nothing but itself', async () => {
      const [store, other] = bench().replicas;
      const coolDownMs = LONG_MS;
      await lease(store, { coolDownMs });
      const watched = expectRefusal(await other.claim(byOther()), 'held', LONG_MS);
      expect(await other.claim(byOther({ coolDownMs, watched }))).toMatchObject({ kind: 'cooled_down' });
      expect(await other.claim(byOther({ watched: `${watched}0` }))).toMatchObject({ kind: 'held' });
    });
  });

  describe('marks', () => {
    it('stay while a moment stands, and what remains of it shrinks', async () => {
      const { replicas, tick } = bench();
      const [store, other] = replicas;
      await lease(store);
      const mark = expectRefusal(await other.claim(byOther()), 'held', LONG_MS);
      await tick();
      const again = await other.claim(byOther());
      expect(expectRefusal(again, 'held', LONG_MS)).toBe(mark);
      expect('retryInMs' in again ? again.retryInMs : LONG_MS).toBeLessThan(LONG_MS);
    });

    it('of a lease change with the lease', async () => {
      const [store, other] = bench().replicas;
      await lease(store, { leaseMs: SHORT_MS });
      const first = expectRefusal(await other.claim(byOther()), 'held', SHORT_MS);
      await letPass(bench());
      await lease(store);
      expect(expectRefusal(await other.claim(byOther({ watched: first })), 'held', LONG_MS)).not.toBe(first);
    });

    it('of a due moment change when it is set anew, and not when the merchant is enrolled again', async () => {
      const { replicas, tick } = bench();
      const [store] = replicas;
      await giveUp(store, {}, { nextDueInMs: LONG_MS });
      const first = await stateOf(store);
      await store.enrol(['shop']);
      expect((await stateOf(store)).dueMark).toBe(first.dueMark);
      await tick();
      await giveUp(store, {}, { nextDueInMs: LONG_MS });
      const second = await stateOf(store);
      expectAbout(second.dueInMs, LONG_MS);
      expect(second.dueMark).not.toBe(first.dueMark);
    });

    it('of a cool-down change with the next claim that carries one', async () => {
      const { replicas, tick } = bench();
      const [store, other] = replicas;
      const coolDownMs = LONG_MS;
      await giveUp(store, { coolDownMs });
      const first = expectRefusal(await other.claim(byOther({ coolDownMs })), 'cooled_down', LONG_MS);
      await tick();
      await giveUp(store, { coolDownMs, watched: first });
      const second = await other.claim(byOther({ coolDownMs, watched: first }));
      expect(expectRefusal(second, 'cooled_down', LONG_MS)).not.toBe(first);
    });
  });
}
