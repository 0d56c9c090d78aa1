import type { Instant } from '#libs/clock';
import type { GatewayFailureKind } from '../gateway-failure.js';
import type { Session } from '../session.js';

/** At most `calls` create calls in any `windowMs`, per merchant, over all replicas and restarts. */
export interface CreateCallBudget {
  readonly calls: number;
  readonly windowMs: number;
}

export interface ClaimRequest {
  readonly merchant: string;
  /** The replica that asks. Claiming again as the holder returns the same lease: a timed-out claim may have been applied. */
  readonly owner: string;
  readonly leaseMs: number;
  /** `when_due`: only if the merchant's due moment has come. `now`: a demand or a rejection; only back-off holds it up. */
  readonly mode: 'when_due' | 'now';
  /** The claim is pointless when the store already has a generation above this one (0: any will do). */
  readonly newerThan: number;
  /** The highest generation this process has ever seen for the merchant: the next one is above it even in a wiped store. */
  readonly floor: number;
  readonly budget: CreateCallBudget;
  /** At least this long between two claims that carry a cool-down; 0 for a claim that replaces no living session. */
  readonly coolDownMs: number;
}

/** The right of one replica to renew one merchant. */
export interface Lease {
  readonly merchant: string;
  readonly owner: string;
  /**
   * Fencing number, and the generation of the session that this lease may publish:
   * `max(last fence + 1, stored generation + 1, floor + 1, store clock in ms)`.
   */
  readonly fence: number;
  /** How long the lease still ran when the store answered. Count from before the question was sent. */
  readonly remainingMs: number;
  /** Failed attempts in a row before this one, over all replicas. */
  readonly failures: number;
}

/** Why a claim was not granted; `retryInMs` is when asking again can make sense. */
export type ClaimRefusal =
  | { readonly kind: 'held'; readonly retryInMs: number }
  | { readonly kind: 'not_due'; readonly retryInMs: number }
  | { readonly kind: 'backing_off'; readonly retryInMs: number }
  | { readonly kind: 'cooled_down'; readonly retryInMs: number }
  | { readonly kind: 'budget_exhausted'; readonly retryInMs: number };

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly lease: Lease }
  | { readonly kind: 'already_newer'; readonly generation: number }
  | ClaimRefusal;

/** The last failed attempt, as every replica may show it. */
export interface RecordedFailure {
  readonly kind: GatewayFailureKind;
  readonly msgCode?: string;
  readonly at: Instant;
}

export interface LeaseRelease {
  /** False when the gateway was never called: the create call is given back to the budget, and the cool-down with it. */
  readonly called: boolean;
  /** When the merchant falls due again. */
  readonly nextDueInMs: number;
  /** Present when the attempt failed; absent when it was given up without a verdict (shutdown). */
  readonly failure?: RecordedFailure;
}

/**
 * `ageMs`: since its publication, by the store's clock, so that a replica whose wall clock is wrong still knows how much
 * of the lifetime has passed. `unopenable`: a record is there but no configured key opens it; treated as absent, and counted.
 */
export type StoredSession =
  | { readonly kind: 'session'; readonly session: Session; readonly ageMs: number }
  | { readonly kind: 'unopenable'; readonly generation: number }
  | { readonly kind: 'absent' };

export interface StoredState {
  readonly merchant: string;
  readonly stored: StoredSession;
  /** The last failure since the last publication. */
  readonly failure?: RecordedFailure;
  /** When the merchant falls due; absent for a merchant that is not enrolled. */
  readonly dueInMs?: number;
}

export interface DueMerchants {
  readonly merchants: readonly string[];
  /** When the next one after these falls due; absent when there is none. */
  readonly nextDueInMs?: number;
}

/** What the store tells every replica, at most once and without promise: a lost one costs a delay, never correctness. */
export type Announcement =
  | { readonly kind: 'published'; readonly merchant: string; readonly generation: number }
  | {
      readonly kind: 'failed';
      readonly merchant: string;
      readonly failure: RecordedFailure;
      readonly retryInMs: number;
    };

/**
 * Sessions, leases and due moments, shared by all replicas. Every operation is atomic, and all time is the store's
 * own clock: durations go in and come out, never moments. Every operation throws BrokerError `store_unavailable`
 * when the store does not answer; a timed-out operation may still have been applied.
 *
 * A lease frees itself at its end. The merchant of a claimant that died falls due again at that same moment.
 */
export interface SessionStore {
  /** Makes merchants known: one that has no due moment yet falls due at once; the others keep theirs. */
  enrol(merchants: readonly string[]): Promise<void>;
  /** Up to `limit` merchants whose due moment has come, the longest due first. */
  due(limit: number): Promise<DueMerchants>;
  /** Grants the lease, moves the due moment to the lease's end and takes one create call from the budget. */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /**
   * Writes the session, sets the next due moment, frees the lease, clears failures and announces: all or nothing, and
   * only while `lease.fence` is the newest that was ever granted. Publishing the same again answers `published` again.
   */
  publish(lease: Lease, session: Session, nextDueInMs: number): Promise<'published' | 'fenced'>;
  /** Frees the lease without a session; false when it was no longer this owner's. */
  release(lease: Lease, release: LeaseRelease): Promise<boolean>;
  /** The state of each merchant, in the order asked. */
  read(merchants: readonly string[]): Promise<readonly StoredState[]>;
  /** @returns a function that ends the subscription */
  onAnnouncement(listener: (announcement: Announcement) => void): () => void;
  close(): Promise<void>;
}
