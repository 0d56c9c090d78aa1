import type { ClaimRequest, ClaimResult } from '#libs/session';
import { aBudget, aClaim, aRecordedFailure, aSession } from '../builders.js';
import { type Bench, expectAbout, lease, letPass, LONG_MS, SHORT_MS, type StoreUnderTest } from './store-under-test.js';

/** Any of our clocks is past this; a fence that counts from one is not. */
const AFTER_2023_MS = 1_704_067_200_000;

const now = (overrides: Partial<ClaimRequest> = {}): ClaimRequest =>
  aClaim({ mode: 'now', leaseMs: LONG_MS, ...overrides });

const byOther = (overrides: Partial<ClaimRequest> = {}): ClaimRequest => now({ owner: 'replica-2', ...overrides });

/** Publishes under a fresh lease and lets the merchant rest; the generation that is then stored. */
async function published({ replicas: [store] }: StoreUnderTest): Promise<number> {
  const held = await lease(store);
  await store.publish(held, aSession({ generation: held.fence }), LONG_MS);
  return held.fence;
}

async function failedOnce({ replicas: [store] }: StoreUnderTest, nextDueInMs: number): Promise<void> {
  await store.release(await lease(store), { called: true, nextDueInMs, failure: aRecordedFailure() });
}

export function describeClaim(bench: Bench): void {
  describe('claim', () => {
    it('grants one lease, whoever else asks at the same moment', async () => {
      const [store, other] = bench().replicas;
      await store.enrol(['shop']);
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
      const held = await lease(store, { leaseMs: LONG_MS });
      expect(held).toMatchObject({ merchant: 'shop', owner: 'replica-1', failures: 0 });
      expectAbout(held.remainingMs, LONG_MS);
    });

    it('refuses everybody else until the lease ends, and then grants a higher fence', async () => {
      const [store, other] = bench().replicas;
      const first = await lease(store, { leaseMs: SHORT_MS });
      const refused = await other.claim(byOther());
      expect(refused).toMatchObject({ kind: 'held' });
      expectAbout('retryInMs' in refused ? refused.retryInMs : undefined, SHORT_MS);
      await letPass(bench());
      expect((await lease(other, { owner: 'replica-2' })).fence).toBeGreaterThan(first.fence);
    });

    it('gives the holder that asks again the same lease with the time that is left, and takes no second call', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      const request = aClaim({ leaseMs: LONG_MS, budget: aBudget({ calls: 1 }) });
      const first = await store.claim(request);
      await advance(30);
      const again = await other.claim(request);
      if (first.kind !== 'claimed' || again.kind !== 'claimed') throw new Error('both must be granted');
      expect(again.lease).toEqual({ ...first.lease, remainingMs: again.lease.remainingMs });
      expect(again.lease.remainingMs).toBeLessThan(first.lease.remainingMs);
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

    it('grants a merchant that nobody has enrolled: it counts as due', async () => {
      const [store] = bench().replicas;
      expect(await store.claim(aClaim())).toMatchObject({ kind: 'claimed' });
    });

    it('seeds the fence from the clock, so that an empty store does not begin at one', async () => {
      const [store] = bench().replicas;
      const { fence } = await lease(store);
      expect(Number.isSafeInteger(fence)).toBe(true);
      expect(fence).toBeGreaterThan(AFTER_2023_MS);
    });

    it('grants a fence above the floor, even when the clock is behind it', async () => {
      const [store] = bench().replicas;
      const floor = 8_999_999_999_999_999;
      expect((await lease(store, { floor })).fence).toBe(floor + 1);
    });

    it('never grants the same fence twice, however fast leases come and go', async () => {
      const [store] = bench().replicas;
      const fences: number[] = [];
      for (let round = 0; round < 15; round += 1) {
        const held = await lease(store);
        fences.push(held.fence);
        await store.release(held, { called: false, nextDueInMs: 0 });
      }
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
    });
  });

  describe('claim: reasons to wait', () => {
    it('refuses a merchant that is not due, unless it is claimed now', async () => {
      const [store, other] = bench().replicas;
      const generation = await published(bench());
      const refused = await store.claim(aClaim({ newerThan: generation }));
      expect(refused.kind).toBe('not_due');
      expectAbout('retryInMs' in refused ? refused.retryInMs : undefined, LONG_MS);
      expect(await other.claim(now({ newerThan: generation }))).toMatchObject({ kind: 'claimed' });
    });

    it('holds a claim up that comes now while the merchant backs off, and counts its failures', async () => {
      const [store, other] = bench().replicas;
      await failedOnce(bench(), SHORT_MS);
      const refused = await other.claim(byOther());
      expect(refused.kind).toBe('backing_off');
      expectAbout('retryInMs' in refused ? refused.retryInMs : undefined, SHORT_MS);
      await letPass(bench());
      expect((await lease(store)).failures).toBe(1);
    });

    it('keeps claims that carry a cool-down apart, and lets the others through', async () => {
      const [store, other] = bench().replicas;
      const withCoolDown = { coolDownMs: SHORT_MS };
      await store.release(await lease(store, withCoolDown), { called: true, nextDueInMs: 0 });
      const refused = await other.claim(byOther(withCoolDown));
      expect(refused.kind).toBe('cooled_down');
      expectAbout('retryInMs' in refused ? refused.retryInMs : undefined, SHORT_MS);
      await store.release(await lease(store), { called: true, nextDueInMs: 0 });
      await letPass(bench());
      expect(await other.claim(byOther(withCoolDown))).toMatchObject({ kind: 'claimed' });
    });

    it('gives the cool-down back when the gateway was never called', async () => {
      const [store, other] = bench().replicas;
      const held = await lease(store, { coolDownMs: LONG_MS });
      await store.release(held, { called: false, nextDueInMs: 0 });
      expect(await other.claim(byOther({ coolDownMs: LONG_MS }))).toMatchObject({ kind: 'claimed' });
    });
  });

  describe('claim: budget', () => {
    const budget = aBudget({ calls: 2, windowMs: SHORT_MS });

    it('is at most so many calls in any window, over all replicas, per merchant', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      await store.release(await lease(store, { budget }), { called: true, nextDueInMs: 0 });
      await advance(SHORT_MS / 2);
      await other.release(await lease(other, { budget }), { called: true, nextDueInMs: 0 });
      const refused = await other.claim(byOther({ budget }));
      expect(refused.kind).toBe('budget_exhausted');
      expectAbout('retryInMs' in refused ? refused.retryInMs : undefined, SHORT_MS / 2);
      expect(await other.claim(byOther({ budget, merchant: 'second' }))).toMatchObject({ kind: 'claimed' });
      await advance(SHORT_MS / 2 + 20);
      expect(await store.claim(now({ budget }))).toMatchObject({ kind: 'claimed' });
    });

    it('gives the call back when the gateway was never called', async () => {
      const [store] = bench().replicas;
      const single = aBudget({ calls: 1 });
      await store.release(await lease(store, { budget: single }), { called: false, nextDueInMs: 0 });
      await store.release(await lease(store, { budget: single }), { called: true, nextDueInMs: 0 });
      expect(await store.claim(now({ budget: single }))).toMatchObject({ kind: 'budget_exhausted' });
    });

    it('is not cleared by a publication', async () => {
      const [store] = bench().replicas;
      const newerThan = await published(bench());
      expect(await store.claim(now({ newerThan, budget: aBudget({ calls: 1 }) }))).toMatchObject({
        kind: 'budget_exhausted',
      });
    });

    it('tells when the first call is free again after the budget was lowered', async () => {
      const { replicas, advance } = bench();
      const [store] = replicas;
      const windowMs = LONG_MS;
      for (let call = 0; call < 3; call += 1) {
        await store.release(await lease(store, { budget: aBudget({ windowMs }) }), { called: true, nextDueInMs: 0 });
        await advance(200);
      }
      const refused = await store.claim(now({ budget: aBudget({ calls: 1, windowMs }) }));
      expectAbout('retryInMs' in refused ? refused.retryInMs : undefined, windowMs - 200);
      // The newest call decides, and not the oldest: a store that is slow by less than their distance is no fault.
      expect('retryInMs' in refused && refused.retryInMs > windowMs - 600 + 1).toBe(true);
    });
  });

  describe('claim: order of checks', () => {
    const spent = { budget: aBudget({ calls: 1, windowMs: LONG_MS }), coolDownMs: LONG_MS };
    /** Every later reason applies in each row, so that the order decides. */
    const rows: Record<string, (bench: StoreUnderTest) => Promise<ClaimResult>> = {
      'already_newer before the own lease': async (under) => {
        await published(under);
        const held = await lease(under.replicas[0], { newerThan: Number.MAX_SAFE_INTEGER });
        return under.replicas[0].claim(now({ owner: held.owner, newerThan: 0, ...spent }));
      },
      'held before backing_off': async (under) => {
        await failedOnce(under, 0);
        await lease(under.replicas[0], { coolDownMs: LONG_MS });
        return under.replicas[1].claim(byOther(spent));
      },
      'claimed by its holder before not_due': async (under) => {
        await lease(under.replicas[0], spent);
        return under.replicas[0].claim(aClaim(spent));
      },
      'not_due before backing_off': async (under) => {
        await failedOnce(under, LONG_MS);
        return under.replicas[0].claim(aClaim(spent));
      },
      'backing_off before cooled_down': async ({ replicas: [store] }) => {
        const held = await lease(store, spent);
        await store.release(held, { called: true, nextDueInMs: LONG_MS, failure: aRecordedFailure() });
        return store.claim(now(spent));
      },
      'cooled_down before budget_exhausted': async ({ replicas: [store] }) => {
        await store.release(await lease(store, spent), { called: true, nextDueInMs: 0 });
        return store.claim(now(spent));
      },
    };

    it.each(Object.entries(rows))('%s', async (name, run) => {
      expect((await run(bench())).kind).toBe(name.split(' ')[0]);
    });

    it('takes nothing from the budget when it refuses', async () => {
      const [store, other] = bench().replicas;
      const budget = aBudget({ calls: 2 });
      const held = await lease(store, { budget });
      for (let round = 0; round < 5; round += 1) await other.claim(byOther({ budget }));
      await store.release(held, { called: true, nextDueInMs: 0 });
      expect(await other.claim(byOther({ budget }))).toMatchObject({ kind: 'claimed' });
    });

    it('answers already_newer with the generation that is stored', async () => {
      const [, other] = bench().replicas;
      const generation = await published(bench());
      expect(await other.claim(byOther({ newerThan: generation - 1 }))).toEqual({ kind: 'already_newer', generation });
    });
  });
}
