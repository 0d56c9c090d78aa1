import type { ClaimRequest, ClaimResult } from '#libs/session';
import { aBudget, aClaim } from '../builders.js';
import {
  type Bench,
  byOther,
  enrol,
  expectAbout,
  expectRefusal,
  failOnce,
  giveUp,
  lease,
  letPass,
  LONG_MS,
  publishOnce,
  SHORT_MS,
  type StoreUnderTest,
} from './store-under-test.js';

const wanted = (overrides: Partial<ClaimRequest> = {}): ClaimRequest =>
  aClaim({ mode: 'when_wanted', leaseMs: LONG_MS, ...overrides });

export function describeClaim(bench: Bench): void {
  describe('claim', () => {
    it('grants one lease, whoever else asks at the same moment', async () => {
      const [store, other] = bench().replicas;
      await enrol(store, 'shop');
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? store : other).claim(aClaim({ owner: `replica-${index}`, leaseMs: LONG_MS })),
        ),
      );
      expect(results.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === 'held')).toHaveLength(19);
    });

    it('names merchant, owner, remaining time and failures in the lease', async () => {
      const [store] = bench().replicas;
      const leased = await lease(store, { leaseMs: LONG_MS });
      expect(leased).toMatchObject({ merchant: 'shop', owner: 'replica-1', failures: 0 });
      expectAbout(leased.remainingMs, LONG_MS);
    });

    it('refuses everybody else until the lease ends, and then grants a higher fence', async () => {
      const [store, other] = bench().replicas;
      const first = await lease(store, { leaseMs: SHORT_MS });
      expectRefusal(await other.claim(byOther()), 'held', SHORT_MS);
      await letPass(bench());
      expect((await lease(other, { owner: 'replica-2' })).fence).toBeGreaterThan(first.fence);
    });

    it('gives the holder that asks again the same lease with the time that is left, and takes no second call', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      const request = aClaim({ leaseMs: LONG_MS, budget: aBudget({ calls: 1 }) });
      const first = await store.claim(request);
      await advance(SHORT_MS);
      const again = await other.claim(request);
      if (first.kind !== 'claimed' || again.kind !== 'claimed') throw new Error('both must be granted');
      expect(again.lease).toEqual({ ...first.lease, remainingMs: again.lease.remainingMs });
      expectAbout(again.lease.remainingMs, LONG_MS - SHORT_MS);
    });

    it('grants a new lease to the former holder once the old one has ended', async () => {
      const [store] = bench().replicas;
      const first = await lease(store, { leaseMs: SHORT_MS });
      await letPass(bench());
      expect((await lease(store)).fence).toBeGreaterThan(first.fence);
    });

    it('keeps merchants apart', async () => {
      const [store, other] = bench().replicas;
      await lease(store);
      expect(await other.claim(byOther({ merchant: 'second' }))).toMatchObject({ kind: 'claimed' });
    });

    it('grants a merchant that was never read: it counts as due', async () => {
      const [store] = bench().replicas;
      expect(await store.claim(aClaim())).toMatchObject({ kind: 'claimed' });
    });
  });

  describe('claim: reasons to wait', () => {
    it('refuses a merchant that is not due, unless the claim does not wait for that', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      expectRefusal(await store.claim(aClaim({ newerThan: generation })), 'not_due', LONG_MS);
      expect(await other.claim(wanted({ newerThan: generation }))).toMatchObject({ kind: 'claimed' });
    });

    it('holds up a claim that does not wait for the due moment while the merchant backs off, and counts its failures', async () => {
      const [store, other] = bench().replicas;
      await failOnce(store, SHORT_MS);
      expectRefusal(await other.claim(byOther()), 'backing_off', SHORT_MS);
      await letPass(bench());
      expect((await lease(store)).failures).toBe(1);
    });

    it('lets a claim that ignores the back-off pass, and never one that waits for the due moment', async () => {
      const [store, other] = bench().replicas;
      await failOnce(store, LONG_MS);
      const whenDue = aClaim({ ignoresBackOff: true });
      expectRefusal(await store.claim(whenDue), 'not_due', LONG_MS);
      expect(await other.claim(byOther({ ignoresBackOff: true }))).toMatchObject({ lease: { failures: 1 } });
    });

    it('keeps claims that carry a cool-down apart, and lets the others through', async () => {
      const [store, other] = bench().replicas;
      const withCoolDown = { coolDownMs: SHORT_MS };
      await giveUp(store, withCoolDown);
      expectRefusal(await other.claim(byOther(withCoolDown)), 'cooled_down', SHORT_MS);
      await giveUp(store);
      await letPass(bench());
      expect(await other.claim(byOther(withCoolDown))).toMatchObject({ kind: 'claimed' });
    });

    it('gives the cool-down back when the gateway was never called', async () => {
      const [store, other] = bench().replicas;
      await giveUp(store, { coolDownMs: LONG_MS }, { called: false });
      expect(await other.claim(byOther({ coolDownMs: LONG_MS }))).toMatchObject({ kind: 'claimed' });
    });
  });

  describe('claim: order of checks', () => {
    const spent = { budget: aBudget({ calls: 1, perMs: LONG_MS }), coolDownMs: LONG_MS };
    /** In each row every later reason applies too, so that the order decides. */
    const rows: Record<string, (bench: StoreUnderTest) => Promise<ClaimResult>> = {
      'already_newer before its own lease': async ({ replicas: [store] }) => {
        await publishOnce(store);
        const leased = await lease(store, { newerThan: Number.MAX_SAFE_INTEGER });
        return store.claim(wanted({ owner: leased.owner, newerThan: 0, ...spent }));
      },
      'held before backing_off': async ({ replicas: [store, other] }) => {
        await failOnce(store, 0);
        await lease(store, { coolDownMs: LONG_MS });
        return other.claim(byOther(spent));
      },
      'claimed by its holder before not_due': async ({ replicas: [store] }) => {
        await lease(store, spent);
        return store.claim(aClaim(spent));
      },
      'not_due before backing_off': async ({ replicas: [store] }) => {
        await failOnce(store, LONG_MS);
        return store.claim(aClaim(spent));
      },
      'backing_off before cooled_down': async ({ replicas: [store] }) => {
        await giveUp(store, spent);
        await failOnce(store, LONG_MS);
        return store.claim(wanted(spent));
      },
      'cooled_down before budget_exhausted': async ({ replicas: [store] }) => {
        await giveUp(store, spent);
        return store.claim(wanted(spent));
      },
    };

    it.each(Object.entries(rows))('%s', async (name, run) => {
      expect((await run(bench())).kind).toBe(name.split(' ')[0]);
    });

    it('takes nothing from the budget when it refuses', async () => {
      const [store, other] = bench().replicas;
      const budget = aBudget({ calls: 2 });
      const leased = await lease(store, { budget });
      for (let round = 0; round < 5; round += 1) await other.claim(byOther({ budget }));
      await store.release(leased, { called: true, nextDueInMs: 0 });
      expect(await other.claim(byOther({ budget }))).toMatchObject({ kind: 'claimed' });
    });

    it('answers already_newer with the generation that is stored', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      expect(await other.claim(byOther({ newerThan: generation - 1 }))).toEqual({ kind: 'already_newer', generation });
    });
  });
}
