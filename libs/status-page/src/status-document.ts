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

/** The state of a merchant, the worst first. */
export type StatusCondition = 'unavailable' | 'foreign_authorizer' | 'dead' | 'stale' | 'failing' | 'fresh';

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
  readonly restartAdvice?: Omit<StatusCause, 'remedy'> | undefined;
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
  /** For a store that does not: what is wrong, and what to do. */
  readonly cause?: StatusCause | undefined;
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
  /** For a merchant that is not well. */
  readonly cause?: StatusCause | undefined;
  readonly session?: StatusSession | undefined;
  /** Whether this replica is creating the next session right now. */
  readonly renewing: boolean;
  /** When the next attempt may be made, after a failed one or while the create-call budget is spent. */
  readonly retryAt?: number | undefined;
  /** The store is away, and nobody may continue without it: nothing is renewed. */
  readonly renewalBlocked: boolean;
  /** Since the last session. */
  readonly failure?: StatusFailure | undefined;
}

/** What is wrong, what to do, and the runbook with which to continue, in the words of libs/causes. */
export interface StatusCause {
  readonly text: string;
  readonly remedy: string;
  readonly runbook: string;
}

export interface StatusSession {
  readonly generation: number;
  readonly createdAt: number;
  readonly renewAt: number;
  readonly mustRenewAt: number;
  readonly expiresAt: number;
}
