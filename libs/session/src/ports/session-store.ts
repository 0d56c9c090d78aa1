import type { Instant } from '#libs/clock';
import type { FailureTrace, GatewayFailureKind, SharedFailureKind } from '../gateway-failure.js';
import type { CreateCallBudget, Session } from '../session.js';

export interface ClaimRequest {
  readonly merchant: string;
  /** Claiming again as the holder returns the same lease, since a timed-out claim may have been applied. */
  readonly owner: string;
  readonly leaseMs: number;
  /**
   * `when_due`: only once the merchant's due moment has come. `when_wanted`: before it as well, unless the merchant is
   * backing off. Another replica's lease, the cool-down and the budget hold up both.
   */
  readonly mode: 'when_due' | 'when_wanted';
  /** The claim is pointless when the store already has a generation above this one (0: any will do). */
  readonly newerThan: number;
  /**
   * The highest generation that this process has made, opened or called under. The next one is above it even in a wiped
   * store, and the process's own lease at or below it is spent: a call was made under it, so it is never granted again.
   */
  readonly floor: number;
  readonly budget: CreateCallBudget;
  /** At least this long between two claims that carry a cool-down; 0 for a claim that replaces no living session. */
  readonly coolDownMs: number;
  /** The reason for the back-off is gone: the merchant's configuration was changed, or its gateway is back. */
  readonly ignoresBackOff?: boolean;
}

/** The right of one replica to renew one merchant. */
export interface Lease {
  readonly merchant: string;
  readonly owner: string;
  /**
   * Fencing number, and the generation of the session that this lease may publish: at least `last fence + 1`, `stored
   * generation + 1`, `floor + 1` and the store's clock in ms.
   */
  readonly fence: number;
  /** How long the lease still had to run when the store answered. Count from before the request was sent. */
  readonly remainingMs: number;
  /** Failed attempts in a row before this one, across all replicas. */
  readonly failures: number;
}

/** Why a claim was not granted; `retryInMs` is when asking again can make sense, never longer than the wait was set for. */
export type ClaimRefusal =
  | { readonly kind: 'held' | 'not_due' | 'backing_off' | 'cooled_down'; readonly retryInMs: number }
  | {
      readonly kind: 'budget_exhausted';
      readonly retryInMs: number;
      /** The length of the window that refuses for longest. */
      readonly perMs?: number;
    };

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly lease: Lease }
  | { readonly kind: 'already_newer'; readonly generation: number }
  | ClaimRefusal;

/** The last failed attempt, in a form that every replica may show. */
export interface RecordedFailure {
  readonly kind: SharedFailureKind;
  /**
   * The gateway's own code, or `html_page` or `empty_answer` in its place: letters, digits and `_`, 64 at most. What a
   * store returns is checked just like what a gateway sends.
   */
  readonly msgCode?: string;
  readonly trace?: FailureTrace;
  readonly at: Instant;
}

export interface LeaseRelease {
  /** False if the gateway was never called under this lease: its call and its cool-down are then given back. */
  readonly called: boolean;
  readonly nextDueInMs: number;
  /** Absent when the attempt was given up without a verdict (shutdown). */
  readonly failure?: RecordedFailure;
}

export interface Publication {
  readonly session: Session;
  /** Since the gateway's answer, by the monotonic clock of the replica: a session also ages while it is offered. */
  readonly ageMs: number;
  readonly nextDueInMs: number;
}

/**
 * `ageMs`: since the gateway's answer, by the store's clock, so that a replica whose wall clock is wrong still knows
 * how much of the lifetime has passed; negative if the store's clock has been set back since. `unchanged`: it is the
 * generation that the reader named, and was neither sent nor opened. `unopenable`: there is one that no configured key
 * opens, or whose text is malformed or too large.
 */
export type StoredSession =
  | { readonly kind: 'session'; readonly session: Session; readonly ageMs: number }
  | { readonly kind: 'unchanged'; readonly ageMs: number }
  | { readonly kind: 'unopenable'; readonly generation: number }
  | { readonly kind: 'absent' };

export interface DeathReport {
  readonly generation: number;
  /** Since it was reported. Coming from a store, by the store's clock: negative if that has been set back since. */
  readonly ageMs: number;
  /** If nothing of ours can have ended the session, its death proves that somebody else did. */
  readonly mayProve: boolean;
}

/** `diedEarly`: a report that might prove something came before any lease was granted after the session. */
export type StoredReport = Omit<DeathReport, 'mayProve'> & { readonly diedEarly: boolean };

/** `isKept`: false if another session is stored. `diedEarly`: this report or one before it has proven it. */
export interface ReportResult {
  readonly isKept: boolean;
  readonly diedEarly: boolean;
}

export interface StoredState {
  readonly merchant: string;
  readonly stored: StoredSession;
  readonly reportedDead?: StoredReport;
  readonly failure?: RecordedFailure;
  /** When the merchant falls due, never longer than was set. */
  readonly dueInMs: number;
}

/** A merchant whose state is wanted, and the generation that the reader already has for it (0: none). */
export interface WantedState {
  readonly merchant: string;
  readonly known: number;
}

export interface StoredStates {
  readonly states: readonly StoredState[];
  /** By the store's clock. */
  readonly now: Instant;
}

export interface DueMerchants {
  readonly merchants: readonly string[];
  /** When the next one after these falls due; absent when there is none. */
  readonly nextDueInMs?: number;
}

/**
 * What replicas tell each other about a renewal that takes its consumers along, named by the generation of the session
 * to come: the fence of the claim. The claimant says that it `begins`, and
 * nobody holds anything for longer than `holdForMs`; or that it has `ended` without a session. Every replica says how
 * many participants are `holding` there. The replica that a participant has answered says that this one is `ready`.
 */
export type HandoverSignal = { readonly merchant: string; readonly generation: number } & (
  | { readonly step: 'begins'; readonly holdForMs: number }
  | { readonly step: 'holding'; readonly participants: number }
  | { readonly step: 'ready'; readonly participant: string }
  | { readonly step: 'ended' }
);

export type ReplicaSignal = { readonly kind: 'handover' } & HandoverSignal;

/**
 * What the store tells every replica, at most once and without guarantee: a hint that triggers a read and sets nothing,
 * since anybody who can write to the channel can say anything. `gap`: hints may have been lost, for any merchant.
 * `handover` delays calls for a bounded time, and decides nothing either.
 */
export type Announcement =
  /** `generation` if a session was published; absent if an attempt failed, or a session was reported dead. */
  | { readonly kind: 'changed'; readonly merchant: string; readonly generation?: number }
  | { readonly kind: 'gap' }
  | ReplicaSignal;

/**
 * Sessions, leases and due moments, shared by all replicas. Every operation is atomic, and all time is the store's own
 * clock: durations go in and come out, never moments. A store answers, refuses or is silent: every operation throws
 * BrokerError `store_refused` if the store answered that it will not (a missing right, no memory, a read-only server),
 * and `store_unavailable` if it did not answer; an unanswered operation may have been applied.
 *
 * A lease frees itself at its end. The merchant of a claimant that died falls due again at that same moment. A lease, a
 * due moment or a cool-down that lies further ahead than its own length, and two seconds more, is over: the store's
 * clock was set back. Whatever cannot be read for one merchant is absent for that merchant alone, and never a failure
 * of the operation. The rules in full are the functions of libs/store/src/memory/merchant-record.ts.
 */
export interface SessionStore {
  /** The state of each merchant. One without a due moment falls due at once. */
  read(wanted: readonly WantedState[]): Promise<StoredStates>;
  /** Up to `limit` merchants whose due moment has come, longest overdue first. A hint: the claim decides. */
  due(limit: number): Promise<DueMerchants>;
  /** Grants the lease, moves the due moment to the lease's end and takes one create call from the budget. */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /**
   * Writes the session, sets the next due moment, frees its own lease, clears failures and announces: all or nothing,
   * and only if no newer session is stored and no newer lease was ever granted. Beside a live lease of somebody else,
   * the due moment and the failures stay. Publishing the same again answers `published` again.
   * @param lease that it was made under; absent for a session that the store has lost, or that outlived its lease
   */
  publish(publication: Publication, lease?: Lease): Promise<'published' | 'fenced'>;
  /** Frees the lease without a session; false if the lease was no longer this owner's. */
  release(lease: Lease, release: LeaseRelease): Promise<boolean>;
  /**
   * Records that consumers report the stored session dead, and announces that it should be read again. The last report
   * counts, and says nothing about any other generation; that the session died early stays.
   */
  report(merchant: string, report: DeathReport): Promise<ReportResult>;
  /**
   * Tells every replica, this one included, something that need not be kept.
   * @returns how many replicas were told, or undefined if the store cannot say
   */
  announce(signal: ReplicaSignal): Promise<number | undefined>;
  /** @returns a function that ends the subscription */
  onAnnouncement(listener: (announcement: Announcement) => void): () => void;
  close(): Promise<void>;
}

/** What became of a wish for a newer session. `retryInMs` is when wishing again can make sense. */
export type RenewalResult =
  | { readonly kind: 'renewed' }
  | { readonly kind: 'already_newer' }
  | { readonly kind: 'failed'; readonly because: GatewayFailureKind; readonly retryInMs: number }
  | { readonly kind: 'lost' | 'store_down' | 'stopping'; readonly retryInMs: number }
  | ClaimRefusal;

/** Whether another replica has published in the meantime: then all there is to do is read the store. */
export function meansStoreIsAhead(result: RenewalResult): boolean {
  return result.kind === 'already_newer' || result.kind === 'lost';
}
