import type { Instant } from '#libs/clock';
import type { FailureTrace } from '../failure-trace.js';
import type { GatewayFailureKind } from '../gateway-failure.js';
import type { Session } from '../session.js';

/** At most `calls` create calls in any `perMs`. */
export interface CreateCallWindow {
  readonly calls: number;
  readonly perMs: number;
}

/**
 * Each window holds, per merchant, over all replicas and restarts: a short one stops a storm, a long one a mistake that is
 * repeated at leisure. A call counts for as long as the longest of them looks back, so no store keeps more calls than that
 * one allows.
 */
export type CreateCallBudget = readonly CreateCallWindow[];

/**
 * Names one moment of the store as it stands: the end of a lease, a due moment, the start of a cool-down. It changes
 * whenever the moment is set anew, and is compared with nothing but itself.
 */
export type MomentMark = string;

export interface ClaimRequest {
  readonly merchant: string;
  /** The replica that asks. Claiming again as the holder returns the same lease: a timed-out claim may have been applied. */
  readonly owner: string;
  readonly leaseMs: number;
  /** `when_due`: only if the merchant's due moment has come. `when_wanted`: also before it; only back-off holds it up. */
  readonly mode: 'when_due' | 'when_wanted';
  /** The claim is pointless when the store already has a generation above this one (0: any will do). */
  readonly newerThan: number;
  /**
   * The highest generation that this process has made, opened or called for. The next one is above it even in a wiped
   * store, and an own lease at or below it is spent: a call was made under it, so it is never granted again.
   */
  readonly floor: number;
  readonly budget: CreateCallBudget;
  /** At least this long between two claims that carry a cool-down; 0 for a claim that replaces no living session. */
  readonly coolDownMs: number;
  /**
   * A moment that the claimant has itself watched stand unchanged for its whole length, by its own monotonic clock: it
   * is over, whatever the store's clock says (as Kubernetes' leader election judges the leases of others).
   */
  readonly watched?: MomentMark;
  /** The reason for the back-off is gone: the merchant's configuration was changed, or its gateway is back. */
  readonly ignoresBackOff?: boolean;
}

/** The right of one replica to renew one merchant. */
export interface Lease {
  readonly merchant: string;
  readonly owner: string;
  /**
   * Fencing number, and the generation of the session that this lease may publish: the first even number from
   * `max(last fence + 1, stored generation + 1, floor + 1, store clock in ms)` on. Sessions that a replica makes alone
   * have odd generations, so the two can never meet.
   */
  readonly fence: number;
  /** How long the lease still ran when the store answered. Count from before the question was sent. */
  readonly remainingMs: number;
  /** Failed attempts in a row before this one, over all replicas. */
  readonly failures: number;
}

/**
 * Why a claim was not granted; `retryInMs` is when asking again can make sense, never more than the length for which
 * the moment was set, however the store's clock was moved. `mark` names the moment that is waited for.
 */
export type ClaimRefusal =
  | { readonly kind: 'held'; readonly retryInMs: number; readonly mark?: MomentMark }
  | { readonly kind: 'not_due'; readonly retryInMs: number; readonly mark?: MomentMark }
  | { readonly kind: 'backing_off'; readonly retryInMs: number; readonly mark?: MomentMark }
  | { readonly kind: 'cooled_down'; readonly retryInMs: number; readonly mark?: MomentMark }
  | {
      readonly kind: 'budget_exhausted';
      readonly retryInMs: number;
      readonly mark?: MomentMark;
      /** The length of the window that refuses for longest. */
      readonly perMs?: number;
    };

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly lease: Lease }
  | { readonly kind: 'already_newer'; readonly generation: number }
  | ClaimRefusal;

/** The last failed attempt, as every replica may show it. */
export interface RecordedFailure {
  readonly kind: GatewayFailureKind;
  /**
   * The gateway's own code, or in its place `html_page` or `empty_answer`: letters, digits and `_`, 64 at most. What a store
   * returns is checked as what a gateway sends.
   */
  readonly msgCode?: string;
  readonly trace?: FailureTrace;
  readonly at: Instant;
}

export interface LeaseRelease {
  /** False when the gateway was never called under this lease: its call is given back to the budget, and the cool-down. */
  readonly called: boolean;
  /** When the merchant falls due again. */
  readonly nextDueInMs: number;
  /** Present when the attempt failed; absent when it was given up without a verdict (shutdown). */
  readonly failure?: RecordedFailure;
}

/** A session for the store. */
export interface Publication {
  readonly session: Session;
  /**
   * Since the gateway's answer was complete, by the monotonic clock of the replica that got it: a session also ages
   * while it is offered.
   */
  readonly ageMs: number;
  /** When the merchant falls due again. */
  readonly nextDueInMs: number;
}

/** A session that exists at the gateway and not in the store: made alone, made under a lease that has ended, or lost by the store. */
export interface Offer extends Publication {
  /** The highest generation that was known to its maker when it was made (0: none). */
  readonly known: number;
}

/**
 * `taken`: it is the store's session now (or was already). `refused`: the store has, or has granted, something newer,
 * named by `generation`. `isContested`: another session was made meanwhile, or is being made, which its maker did not
 * know of: which of them was created last cannot be known.
 */
export interface OfferResult {
  readonly kind: 'taken' | 'refused';
  readonly generation: number;
  readonly isContested: boolean;
}

/**
 * `ageMs`: since the gateway's answer, by the store's clock, so that a replica whose wall clock is wrong still knows
 * how much of the lifetime has passed; negative when the store's clock has been set back since. `unchanged`: it is the
 * generation that the reader named, and was neither sent nor opened. `unopenable`: something is there that no
 * configured key opens, that is malformed or too large (`generation` 0 when even that cannot be believed): treated as
 * absent, and counted.
 */
export type StoredSession =
  | { readonly kind: 'session'; readonly session: Session; readonly ageMs: number }
  | { readonly kind: 'unchanged'; readonly ageMs: number }
  | { readonly kind: 'unopenable'; readonly generation: number }
  | { readonly kind: 'absent' };

/** A session that consumers report dead, and that could not be replaced. */
export interface DeathReport {
  readonly generation: number;
  /** Since it was reported. As a store tells it, by the store's clock: negative when that has been set back since. */
  readonly ageMs: number;
  /** What held up a newer one, and for how long from the report on; absent where every replica sees for itself what it was. */
  readonly heldUp?: { readonly by: 'budget' | 'cool_down'; readonly forMs: number };
}

export interface StoredState {
  readonly merchant: string;
  readonly stored: StoredSession;
  /** The generation of the stored session, when that was condemned. */
  readonly condemned?: number;
  /** Of the stored session. */
  readonly reportedDead?: DeathReport;
  /** The last failure since the last publication. */
  readonly failure?: RecordedFailure;
  /** When the merchant falls due, never more than the length for which it was set; absent when it is not enrolled. */
  readonly dueInMs?: number;
  readonly dueMark?: MomentMark;
}

/** A merchant whose state is wanted, and the generation that the reader already has of it (0: none). */
export interface WantedState {
  readonly merchant: string;
  readonly known: number;
}

export interface StoredStates {
  /** In the order asked. */
  readonly states: readonly StoredState[];
  /** The store's clock when it answered. */
  readonly now: Instant;
}

export interface DueMerchants {
  readonly merchants: readonly string[];
  /** When the next one after these falls due; absent when there is none. */
  readonly nextDueInMs?: number;
}

/**
 * What replicas tell each other of a renewal that takes its consumers along. The claimant: it `begins`, and nobody holds
 * anything for longer than `holdForMs`; or it has `ended` without a session. Every replica: it has so many participants
 * that are `holding`. Whichever replica a participant has answered: that one is `ready`.
 */
export type HandoverSignal = { readonly merchant: string; readonly generation: number } & (
  | { readonly step: 'begins'; readonly holdForMs: number }
  | { readonly step: 'holding'; readonly participants: number }
  | { readonly step: 'ready'; readonly participant: string }
  | { readonly step: 'ended' }
);

/**
 * What replicas tell each other through the store. `unopenable`: the stored session of this generation cannot be opened by
 * the replica that says so; whoever holds it looks whether it has to be written again.
 */
export type ReplicaSignal =
  | ({ readonly kind: 'handover' } & HandoverSignal)
  | { readonly kind: 'unopenable'; readonly merchant: string; readonly generation: number };

/**
 * What the store tells every replica, at most once and without promise: a hint that causes a read and sets nothing,
 * since anybody who can write to the channel can say anything. `gap`: hints may have been lost, for any merchant. `handover`
 * delays calls for a bounded time, and decides nothing either.
 */
export type Announcement =
  /** `generation` when a session was published, absent when an attempt failed, or a session was condemned or reported dead. */
  | { readonly kind: 'changed'; readonly merchant: string; readonly generation?: number }
  | { readonly kind: 'gap' }
  | ReplicaSignal;

/**
 * Sessions, leases and due moments, shared by all replicas. Every operation is atomic, and all time is the store's
 * own clock: durations go in and come out, never moments. A store answers, refuses or is silent: every operation
 * throws BrokerError `store_refused` when the store answered that it will not (a missing right, no memory, a server
 * that only reads), and `store_unavailable` when it did not answer; an unanswered operation may have been applied.
 *
 * A lease frees itself at its end. The merchant of a claimant that died falls due again at that same moment. What
 * cannot be read of one merchant is absent for that merchant alone, and never a failure of the operation.
 */
export interface SessionStore {
  /** Makes merchants known: one that has no due moment yet falls due at once; the others keep theirs. */
  enrol(merchants: readonly string[]): Promise<void>;
  /**
   * A number in [0, 1024) that no other owner has, as far as the store remembers; the same for the same owner. It
   * keeps apart the generations of replicas that make sessions alone, and is asked for after every outage.
   */
  seat(owner: string): Promise<number>;
  /**
   * Up to `limit` merchants whose due moment has come, those that have been due longest first. A hint: the claim
   * decides.
   */
  due(limit: number): Promise<DueMerchants>;
  /** Grants the lease, moves the due moment to the lease's end and takes one create call from the budget. */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /**
   * Writes the session, sets the next due moment, frees the own lease, clears failures and announces: all or nothing,
   * and only while `lease.fence` is the newest that was ever granted. Publishing the same again answers `published` again.
   */
  publish(lease: Lease, publication: Publication): Promise<'published' | 'fenced'>;
  /**
   * Writes a session without a lease, if it is newer than the stored one and than every granted fence; announces it.
   * A live lease of somebody else stays. Offering the same again answers `taken` again, and mends a record that was damaged.
   */
  offer(offer: Offer): Promise<OfferResult>;
  /** Frees the lease without a session; false when the lease was no longer this owner's. */
  release(lease: Lease, release: LeaseRelease): Promise<boolean>;
  /**
   * Remembers that the stored session was found dead although nothing of ours can have ended it, and announces that it
   * is to be read again. Condemning the same again answers true again.
   * @returns false when another session is stored, when a lease was granted since, or when it is contested
   */
  condemn(merchant: string, generation: number): Promise<boolean>;
  /**
   * Remembers that consumers report the stored session dead, and announces that it is to be read again. The last report counts, and says
   * nothing of any other generation.
   * @returns false when another session is stored
   */
  reportDead(merchant: string, report: DeathReport): Promise<boolean>;
  /** The state of each merchant. */
  read(wanted: readonly WantedState[]): Promise<StoredStates>;
  /**
   * Tells every replica, this one included, what it need not keep.
   * @returns how many replicas were told, undefined when the store cannot say
   */
  announce(signal: ReplicaSignal): Promise<number | undefined>;
  /** @returns a function that ends the subscription */
  onAnnouncement(listener: (announcement: Announcement) => void): () => void;
  close(): Promise<void>;
}
