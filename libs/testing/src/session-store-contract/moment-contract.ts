import type { ClaimRequest, SessionStore } from '#libs/session';
import { aClaim } from '../builders.js';
import {
  type Bench,
  byOther,
  expectRefusal,
  failOnce,
  giveUp,
  lease,
  LONG_MS,
  publishOnce,
  stateOf,
} from './store-under-test.js';

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
    it('is over if it lies further ahead than its length', async () => {
      const { replicas, setBack } = bench();
      const [store, other] = replicas;
      await begin(store);
      expectRefusal(await other.claim(byOther(claim)), kind, LONG_MS);
      await setBack(HOUR_MS);
      expect(await other.claim(byOther(claim))).toMatchObject({ kind: 'claimed' });
    });

    it('stands, and no longer than its length, if that is little', async () => {
      const { replicas, setBack } = bench();
      const [store, other] = replicas;
      await begin(store);
      await setBack(LITTLE_MS);
      expectRefusal(await other.claim(byOther(claim)), kind, LONG_MS);
    });
  });

  it('tells a merchant whose due moment is over in that way as due, and fences the lease that was', async () => {
    const { replicas, setBack } = bench();
    const [store, other] = replicas;
    const gone = await lease(store);
    await setBack(HOUR_MS);
    expect((await stateOf(other)).dueInMs).toBe(0);
    const next = await other.claim(aClaim({ owner: 'replica-2' }));
    if (next.kind !== 'claimed') throw new Error('it must be granted');
    expect(next.lease.fence).toBeGreaterThan(gone.fence);
    expect(await store.release(gone, { called: true, nextDueInMs: 0 })).toBe(false);
  });
}
