import type { ClaimRequest, Lease, SessionStore } from '#libs/session';
import { aClaim } from '../builders.js';

/** One adapter over data of its own, empty at first. */
export interface StoreUnderTest {
  /** Two replicas' views of the same data; an adapter that lives in one process gives the same instance twice. */
  readonly replicas: readonly [SessionStore, SessionStore];
  /** Lets the store's clock run: virtual time, or a real wait. */
  readonly advance: (durationMs: number) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

export type MakeStore = () => Promise<StoreUnderTest>;

/** Gives the store of the running test. */
export type Bench = () => StoreUnderTest;

/** Long enough for a few operations on a real store, short enough to wait for. */
export const SHORT_MS = 400;
/** Does not end within a test. */
export const LONG_MS = 60_000;
/** Real stores count in whole milliseconds and answer after a while: what is asserted as "about" is within this. */
export const SLACK_MS = 350;

/** Waits until what was to last `SHORT_MS` is over. */
export function letPass({ advance }: StoreUnderTest): Promise<void> {
  return advance(SHORT_MS + 20);
}

export function expectAbout(actualMs: number | undefined, expectedMs: number): void {
  expect(actualMs).toBeLessThanOrEqual(expectedMs);
  expect(actualMs).toBeGreaterThan(expectedMs - SLACK_MS);
}

/** Claims at once and fails the test unless the lease is granted. */
export async function lease(store: SessionStore, overrides: Partial<ClaimRequest> = {}): Promise<Lease> {
  const result = await store.claim(aClaim({ mode: 'now', leaseMs: LONG_MS, ...overrides }));
  if (result.kind !== 'claimed') throw new Error(`the claim was answered ${result.kind}, the test needs the lease`);
  return result.lease;
}
