import { inspect } from 'node:util';
import type {
  ClaimRequest,
  ClaimResult,
  Lease,
  LeaseRelease,
  Publication,
  Session,
  SessionStore,
  StoredState,
} from '#libs/session';
import { aClaim, aDeathReport, aPublication, aRecordedFailure, aSession } from '../builders.js';

/** One adapter over its own data, empty at first. */
export interface StoreUnderTest {
  /** Two replicas' views of the same data; an adapter that lives in one process returns the same instance twice. */
  readonly replicas: readonly [SessionStore, SessionStore];
  /**
   * Lets the store's clock run on by virtual time. A real store has none: every moment that it has kept is moved back
   * instead, and what it says the time is stays.
   */
  readonly advance: (durationMs: number) => Promise<void>;
  /** Sets the store's clock back: from then on, every moment that it has stored is further ahead. */
  readonly setBack: (byMs: number) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

export type MakeStore = () => Promise<StoreUnderTest>;

/** Returns the store of the running test. */
export type Bench = () => StoreUnderTest;

/** Ends when the test says so, and not within one, however slow the machine is. */
export const SHORT_MS = 600_000;
/** Does not end even then. */
export const LONG_MS = 7_200_000;
/** Longer than a test may take: "about" means within this. */
const SLACK_MS = 300_000;

/** Until something that was to last `SHORT_MS` is over. */
export function letPass({ advance }: StoreUnderTest): Promise<void> {
  return advance(SHORT_MS);
}

export function expectAbout(actualMs: number | undefined, expectedMs: number): void {
  expect(actualMs).toBeLessThanOrEqual(expectedMs);
  expect(actualMs).toBeGreaterThan(expectedMs - SLACK_MS);
}

/** Of an age, which only grows while a test runs. */
export function expectAged(ageMs: number | undefined, leastMs: number): void {
  // One that counts in whole milliseconds may have rounded a moment up.
  expect(ageMs).toBeGreaterThanOrEqual(leastMs - 1);
  expect(ageMs).toBeLessThan(leastMs + SLACK_MS);
}

/** Claims at once, whatever is stored, and fails the test unless the lease is granted. */
export async function lease(store: SessionStore, overrides: Partial<ClaimRequest> = {}): Promise<Lease> {
  const whateverIsStored = { newerThan: Number.MAX_SAFE_INTEGER };
  const result = await store.claim(
    aClaim({ mode: 'when_wanted', leaseMs: LONG_MS, ...whateverIsStored, ...overrides }),
  );
  if (result.kind !== 'claimed') throw new Error(`the claim was answered ${result.kind}, the test needs the lease`);
  return result.lease;
}

/** A claim by another replica that does not wait for the due moment. */
export const byOther = (overrides: Partial<ClaimRequest> = {}): ClaimRequest =>
  aClaim({ mode: 'when_wanted', leaseMs: LONG_MS, owner: 'replica-2', ...overrides });

/** The session that may be published under this lease. */
export const sessionOf = (leased: Lease, overrides: Partial<Session> = {}): Session =>
  aSession({ merchant: leased.merchant, generation: leased.fence, ...overrides });

export function publicationOf(leased: Lease, overrides: Partial<Publication> = {}): Publication {
  return aPublication(sessionOf(leased), { nextDueInMs: LONG_MS, ...overrides });
}

/** Claims, publishes and lets the merchant rest; returns the generation that is then stored. */
export async function publishOnce(store: SessionStore, merchant = 'shop'): Promise<number> {
  const leased = await lease(store, { merchant });
  await store.publish(publicationOf(leased), leased);
  return leased.fence;
}

/** Claims and gives the lease up again. By default, the gateway was called and the merchant is due at once. */
export async function giveUp(
  store: SessionStore,
  claim: Partial<ClaimRequest> = {},
  release: Partial<LeaseRelease> = {},
): Promise<Lease> {
  const leased = await lease(store, claim);
  await store.release(leased, { called: true, nextDueInMs: 0, ...release });
  return leased;
}

/** One failed attempt, and the back-off after it. */
export async function failOnce(store: SessionStore, nextDueInMs: number): Promise<void> {
  await giveUp(store, {}, { nextDueInMs, failure: aRecordedFailure() });
}

export async function stateOf(store: SessionStore, merchant = 'shop', known = 0): Promise<StoredState> {
  const { states } = await store.read([{ merchant, known }]);
  const [state] = states;
  if (state === undefined) throw new Error('a read answers for every merchant that it was asked for');
  return state;
}

/** Makes merchants known, which then fall due at once. */
export async function enrol(store: SessionStore, ...merchants: readonly string[]): Promise<void> {
  await store.read(merchants.map((merchant) => ({ merchant, known: 0 })));
}

/** Asserts the kind and rough length of a refusal's wait. */
export function expectRefusal(result: ClaimResult, kind: ClaimResult['kind'], expectedMs: number): void {
  expect(result.kind).toBe(kind);
  if (!('retryInMs' in result)) throw new Error('a refusal says how long to wait');
  expectAbout(result.retryInMs, expectedMs);
  expect(result.retryInMs).toBeGreaterThanOrEqual(0);
}

/** All operations at once, none of which may hang or succeed, or tell the session that it was to store. */
export async function expectUnavailable(store: SessionStore): Promise<void> {
  const leased: Lease = { merchant: 'shop', owner: 'replica-1', fence: 7, remainingMs: 1, failures: 0 };
  const outcomes = await Promise.allSettled([
    store.due(1),
    store.claim(aClaim()),
    store.publish(aPublication(sessionOf(leased)), leased),
    store.report('shop', aDeathReport()),
    store.release(leased, { called: true, nextDueInMs: 0 }),
    store.read([{ merchant: 'shop', known: 0 }]),
  ]);
  const unavailable = { status: 'rejected', reason: expect.objectContaining({ code: 'store_unavailable' }) };
  expect(outcomes).toEqual(outcomes.map(() => unavailable));
  expect(inspect(outcomes, { depth: Infinity, showHidden: true })).not.toContain(aSession().authToken);
}
