/**
 * Everything that the status page can show, and so everything that can leave the process through it: an allow-list. It
 * has no member that could hold a token, a key, a device id or a serviceCode, and it is built member by member. The
 * page's own script is checked against these types, so this file imports nothing. Moments are milliseconds since the
 * epoch.
 */
export interface StatusDocument {
  /** This replica's wall clock when the document was made: the page has no other. */
  readonly at: number;
  readonly replica: StatusReplica;
  readonly store: StatusStore;
  /** The worst come first. */
  readonly gateways: readonly StatusGateway[];
  /** For all configured merchants, whatever is searched for. */
  readonly counts: StatusCounts;
  /** How many merchants match the search; all of them if there is none. */
  readonly matching: number;
  /** The worst come first; a bounded number of those that match. */
  readonly merchants: readonly StatusMerchant[];
}

/**
 * The state of a merchant, the worst first: nothing to serve; somebody else creates sessions and ends ours; a consumer
 * has reported the session dead and it could not be replaced; the bank has made a session that is of no use to us and
 * ends ours; only this replica has its newest session, since the store did not accept it; somebody else created
 * sessions, and nobody has reported our newest one dead; past the safety margin; its renewal is due, but the
 * create-call budget is spent or the store is away, or the budget is spent until after its end; the last attempt failed
 * while the session is good; its renewal is due or under way; all is well.
 */
export type StatusCondition =
  | 'unavailable'
  | 'foreign_authorizer'
  | 'reported_dead'
  | 'likely_dead'
  | 'unshared'
  | 'watched'
  | 'stale'
  | 'held_back'
  | 'failing'
  | 'renewing'
  | 'fresh';

export type StatusCounts = Readonly<Record<StatusCondition, number>>;

export interface StatusReplica {
  /**
   * The name of the host, which is the pod's in Kubernetes; elsewhere with the port of the API, because replicas may
   * share a host.
   */
  readonly name: string;
  readonly version: string;
  readonly startedAt: number;
  readonly ready: boolean;
  /** Whether the store has answered since the start: before that, this replica creates nothing and is not ready. */
  readonly storeReached: boolean;
  readonly shuttingDown: boolean;
  /** Since when changed files have been refused, how many faults they have and which is the first (`text`). */
  readonly refusedChange?: { readonly since: number; readonly faults: number; readonly text: string } | undefined;
  /** Settings that have changed and take effect at the next start. */
  readonly awaitingRestart?: readonly string[] | undefined;
  /** Since when there have been any. */
  readonly awaitingSince?: number | undefined;
  /** What to do about them. */
  readonly restartAdvice?: StatusCause | undefined;
}

export interface StatusStore {
  readonly type: 'memory' | 'redis';
  /**
   * `refuses`: it answers, but will not do what it is asked. Absent until the first connection has succeeded or failed.
   */
  readonly condition?: 'answers' | 'refuses' | 'silent' | undefined;
  /** Since when it has answered, or has not worked, however its state has changed meanwhile. */
  readonly since?: number | undefined;
  /** Why it does not answer: the code of a refusal such as `NOPERM`, or what happened to the connection. */
  readonly reason?: string | undefined;
  /**
   * What a refusal means, as a continuation of `the store`, and what to do about it; absent if only the reason is
   * known.
   */
  readonly refusal?: { readonly is: string; readonly remedy: string } | undefined;
  /** For a store that answers: the last request that it did not fulfil, in words, until it fulfils one again. */
  readonly failing?: { readonly work: string; readonly at: number } | undefined;
}

/** Judged by the last call for each merchant, whichever replica made it. */
export interface StatusGateway {
  readonly host: string;
  readonly merchants: number;
  /**
   * `refusing`: it answers, and refuses a merchant. `untrusted`: it was not called, because the certificate of what
   * listens there is not trusted.
   */
  readonly health: 'untrusted' | 'failing' | 'refusing' | 'unknown' | 'answering';
  /** The merchants whose last call failed or was refused. */
  readonly failing: number;
  /** A refusal is an answer. */
  readonly lastAnswerAt?: number | undefined;
  /** The newest of those that no session has followed. */
  readonly lastFailure?: StatusFailure | undefined;
  /** How far the gateway's clock is ahead of ours; negative: behind. */
  readonly skewMs?: number | undefined;
}

export interface StatusFailure {
  readonly at: number;
  readonly kind: string;
  /** The gateway's own code or, if it gave none, that of the network or of TLS, each in a safe form. */
  readonly code?: string | undefined;
}

export interface StatusMerchant {
  readonly id: string;
  readonly required: boolean;
  readonly environment: 'production' | 'test';
  readonly condition: StatusCondition;
  /** Why it is served or not, in the words of the API. */
  readonly reason: 'current' | 'foreign_authorizer' | 'past_margin' | 'no_session' | 'expired';
  /**
   * For a merchant that is not well: what is the matter, as part of a sentence, and the runbook with which to continue.
   */
  readonly cause?: StatusCause | undefined;
  /**
   * While the bank seals to another key: the thumbprint of the key with which a replica asked, to be compared with the
   * bank's.
   */
  readonly ownKey?: string | undefined;
  /**
   * `lacking`: no key of this replica opens a newer session. `differing`: another replica asked with a key that is not
   * the newest of this one.
   */
  readonly keys?: 'lacking' | 'differing' | undefined;
  /** The consumers that have reported its session dead to this replica; a bounded number of them. */
  readonly reportedBy?: readonly string[] | undefined;
  /** The gateway codes that they gave as their reason, each in a safe form; a bounded number of them. */
  readonly reportedAs?: readonly string[] | undefined;
  /**
   * Somebody else created its sessions not long ago, and may still do so: since when no consumer has reported a dead
   * one to this replica.
   */
  readonly quietSince?: number | undefined;
  readonly session?: StatusSession | undefined;
  /** Whether this replica is creating the next session right now. */
  readonly renewing: boolean;
  /** When the next attempt may be made, after a failed one or while the create-call budget is spent. */
  readonly retryAt?: number | undefined;
  /** The store is away, and nobody may continue without it: nothing is renewed. */
  readonly renewalBlocked: boolean;
  /** No create call is left in the budget for now. */
  readonly budgetSpent: boolean;
  /** Since the last session. */
  readonly failure?: StatusFailure | undefined;
}

export interface StatusCause {
  readonly text: string;
  readonly runbook: string;
  /**
   * The part of `text` that adds to the sentence of the headline, without anything that counts down; absent if that is
   * all of `text`.
   */
  readonly inHeadline?: string | undefined;
}

export interface StatusSession {
  readonly generation: number;
  readonly createdAt: number;
  readonly renewAt: number;
  readonly mustRenewAt: number;
  readonly expiresAt: number;
}
