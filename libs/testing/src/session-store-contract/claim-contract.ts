import type { ClaimRequest, ClaimResult, SessionStore } from '#libs/session';
import { aBudget, aClaim, aPublication, aSession } from '../builders.js';
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
  publicationOf,
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

    it('refuses everybody else until the lease ends, and then grants a higher fence', async () => {
      const [store, other] = bench().replicas;
      const first = await lease(store, { leaseMs: SHORT_MS });
      expect(first).toMatchObject({ merchant: 'shop', owner: 'replica-1', failures: 0 });
      expectAbout(first.remainingMs, SHORT_MS);
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
  });

  describe('claim: reasons to wait', () => {
    it('refuses one that has not seen what is stored, and a merchant that is not due to who waits for that', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      expect(await other.claim(byOther({ newerThan: generation - 1 }))).toEqual({ kind: 'already_newer', generation });
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

    it('keeps claims that carry a cool-down apart once the gateway was called, and lets the others through', async () => {
      const [store, other] = bench().replicas;
      const withCoolDown = { coolDownMs: SHORT_MS };
      await giveUp(store, withCoolDown, { called: false });
      await giveUp(store, withCoolDown);
      expectRefusal(await other.claim(byOther(withCoolDown)), 'cooled_down', SHORT_MS);
      await giveUp(store);
      await letPass(bench());
      expect(await other.claim(byOther(withCoolDown))).toMatchObject({ kind: 'claimed' });
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
  });
}

const MINUTE_MS = 60_000;

export function describeDue(bench: Bench): void {
  describe('due moments', () => {
    it('lets a merchant that is read for the first time fall due at once, on every replica', async () => {
      const [store, other] = bench().replicas;
      expect(await store.due(10)).toEqual({ merchants: [] });
      await enrol(store, 'shop');
      expect(await other.due(10)).toEqual({ merchants: ['shop'] });
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

/** Any of our clocks is past this; a fence that counts from one is not. */
const AFTER_2023_MS = 1_704_067_200_000;
const TEN_YEARS_MS = 10 * 366 * 86_400_000;

export function describeFences(bench: Bench): void {
  describe('fences', () => {
    it('are above a generation that came without a lease', async () => {
      const [store] = bench().replicas;
      const generation = (await giveUp(store)).fence + 60_001;
      await store.publish(aPublication(aSession({ generation })));
      expect((await lease(store, { newerThan: generation })).fence).toBe(generation + 1);
    });

    it('leave room for those to come: a floor that does not is ignored', async () => {
      const [store] = bench().replicas;
      const { fence } = await lease(store, { floor: Number.MAX_SAFE_INTEGER });
      expect(fence).toBeLessThan(AFTER_2023_MS * 2);
    });

    it('beyond belief hold up no claim, and those within it are kept: the next one follows the clock, or them', async () => {
      const [store] = bench().replicas;
      const { fence: first } = await giveUp(store);
      await giveUp(store, { floor: first + 2 * TEN_YEARS_MS });
      expect((await giveUp(store)).fence).toBeLessThan(first + TEN_YEARS_MS);
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
    it('is fenced by the one that follows it, and cannot be released any more', async () => {
      const [store] = bench().replicas;
      const first = await lease(store);
      const second = await lease(store, { floor: first.fence });
      expect(await store.publish(publicationOf(first), first)).toBe('fenced');
      expect(await store.release(first, { called: false, nextDueInMs: 0 })).toBe(false);
      expect(await store.publish(publicationOf(second), second)).toBe('published');
    });

    it('is still a lease for everybody else, for a holder whose floor is below it, and for who waits until it ends', async () => {
      const [store, other] = bench().replicas;
      const { fence } = await lease(store);
      expect(await other.claim(byOther({ floor: fence }))).toMatchObject({ kind: 'held' });
      expect((await lease(store, { floor: fence - 1 })).fence).toBe(fence);
      expect(await store.claim(aClaim({ floor: fence }))).toMatchObject({ kind: 'not_due' });
    });
  });
}

/** Less than the clocks of two servers may disagree by. */
const LITTLE_MS = 1_000;
const HOUR_MS = 3_600_000;

interface Wait {
  readonly kind: 'held' | 'not_due' | 'backing_off' | 'cooled_down';
  /** The claim that has to wait, if it differs from that of any other replica. */
  readonly claim?: Partial<ClaimRequest>;
  readonly begin: (store: SessionStore) => Promise<unknown>;
}

/** What makes a claim wait for `LONG_MS`. */
const waits: Readonly<Record<string, Wait>> = {
  'a lease': { kind: 'held', begin: (store) => lease(store) },
  'a due moment': {
    kind: 'not_due',
    claim: { mode: 'when_due', newerThan: Number.MAX_SAFE_INTEGER },
    begin: (store) => publishOnce(store),
  },
  'a back-off': { kind: 'backing_off', begin: (store) => failOnce(store, LONG_MS) },
  'a cool-down': {
    kind: 'cooled_down',
    claim: { coolDownMs: LONG_MS },
    begin: (store) => giveUp(store, { coolDownMs: LONG_MS }),
  },
};

export function describeMoments(bench: Bench): void {
  describe.each(Object.entries(waits))('%s of a clock that was set back', (_name, { begin, kind, claim }) => {
    it('stands, and no longer than its length, if that is little, and is over if it lies further ahead than that', async () => {
      const { replicas, setBack } = bench();
      const [store, other] = replicas;
      await begin(store);
      await setBack(LITTLE_MS);
      expectRefusal(await other.claim(byOther(claim)), kind, LONG_MS);
      await setBack(HOUR_MS);
      expect(await other.claim(byOther(claim))).toMatchObject({ kind: 'claimed' });
    });
  });
}
