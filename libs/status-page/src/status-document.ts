/**
 * Everything that the status page can show, and so everything that can leave the process through it: an allow-list. It
 * has no member that could hold a token, a key, a device id or a serviceCode, and it is built member by member. The
 * page's own script is checked against these types, so this file imports nothing. Moments are milliseconds since the
 * epoch.
 */
export interface StatusDocument {
  /** This replica's wall clock when the document was made: the page corrects its own clock with it. */
  readonly at: number;
  readonly replica: StatusReplica;
  readonly store: StatusStore;
  /** The worst come first; a bounded number of them. */
  readonly gateways: readonly StatusGateway[];
  /** How many gateways are not listed. */
  readonly furtherGateways: number;
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
  /**
   * Since when changed files have been refused, how many faults they have and which is the first (`text`); absent while
   * the files match what is in force.
   */
  readonly refusedChange?: { readonly since: number; readonly faults: number; readonly text: string };
  /** Settings that have changed and take effect at the next start; absent if there are none. */
  readonly awaitingRestart?: readonly string[];
  /** Since when there have been any. */
  readonly awaitingSince?: number;
  /** What to do about them. */
  readonly restartAdvice?: Omit<StatusCause, 'remedy'>;
  /** Consumers that follow sessions through events. */
  readonly watchers: number;
  /** Open status pages. */
  readonly viewers: number;
  readonly residentBytes: number;
  /** How late the event loop ran a timer: the last time, and at worst in the last minute. */
  readonly eventLoopLagMs: { readonly latest: number; readonly worst: number };
}

export interface StatusStore {
  readonly type: 'memory' | 'redis';
  /**
   * `refuses`: it answers, but will not do what it is asked. Absent until the first connection has succeeded or failed.
   */
  readonly condition?: 'answers' | 'refuses' | 'silent';
  /** Since when it has answered, or has not worked, however its state has changed meanwhile. */
  readonly since?: number;
  /** Why it does not answer: the code of a refusal such as `NOPERM`, or what happened to the connection. */
  readonly reason?: string;
  /** For a store that does not: what is wrong, and what to do. */
  readonly cause?: StatusCause;
  /** For a store that answers: the last request that it did not fulfil, in words, until it fulfils one again. */
  readonly failing?: { readonly work: string; readonly at: number };
}

/**
 * `refusing`: it answers, and its last answer for a merchant was a refusal. `untrusted`: it was not called, because the
 * certificate of what listens there is not trusted.
 */
export type StatusGatewayHealth = 'unknown' | 'answering' | 'refusing' | 'untrusted' | 'degraded' | 'down';

export interface StatusGateway {
  readonly host: string;
  readonly merchants: number;
  readonly health: StatusGatewayHealth;
  /** Create calls of this replica that are recent enough to judge by, at most twenty. */
  readonly attempts: number;
  /** Those of them that were not answered, or not with a valid answer. */
  readonly failed: number;
  /** Those of them that were answered with a refusal. */
  readonly refused: number;
  /** Of those that were answered. */
  readonly medianMs?: number;
  /**
   * The first answer after the last failure among those calls; absent while the last call for one of the merchants
   * failed.
   */
  readonly answersSince?: number;
  /** When another replica last renewed one of the merchants for which this one has called. */
  readonly answeredOthersAt?: number;
  /**
   * The last failure of another replica that is still current for one of the merchants; its kind is `refused`, `not
   * trusted` or `failed`.
   */
  readonly othersFailure?: StatusFailure;
  readonly lastAnswerAt?: number;
  readonly lastFailure?: StatusFailure;
  /** How far the gateway's clock is ahead of ours; negative: behind. */
  readonly skewMs?: number;
}

export interface StatusFailure {
  readonly at: number;
  readonly kind: string;
  /** The gateway's own code or, if it gave none, that of the network or of TLS, each in a safe form. */
  readonly code?: string;
}

export interface StatusMerchant {
  readonly id: string;
  readonly required: boolean;
  readonly environment: 'production' | 'test';
  readonly condition: StatusCondition;
  /** Why it is served or not, in the words of the API. */
  readonly reason: 'current' | 'foreign_authorizer' | 'past_margin' | 'no_session' | 'expired';
  /** For a merchant that is not well. */
  readonly cause?: StatusCause;
  readonly session?: StatusSession;
  /** Whether this replica is creating the next session right now. */
  readonly renewing: boolean;
  /** When the next attempt may be made, after a failed one or while the create-call budget is spent. */
  readonly retryAt?: number;
  /** The store is away, and nobody may continue without it: nothing is renewed. */
  readonly renewalBlocked: boolean;
  /** The last claim found no create call left in the budget. */
  readonly budgetSpent: boolean;
  /** Since the last session. */
  readonly failure?: StatusFailure;
  /** What this replica did or learned, the oldest first. */
  readonly renewals: readonly StatusRenewal[];
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

/** `adopted`: another replica made the session, or this one did before it was restarted. */
export type StatusRenewal =
  | {
      readonly at: number;
      readonly generation: number;
      readonly outcome: 'adopted';
    }
  | {
      readonly at: number;
      readonly generation: number;
      readonly outcome:
        | 'success'
        | 'transient'
        | 'refused'
        | 'revoked'
        | 'invalid_response'
        | 'key_unavailable'
        | 'timeout'
        | 'lease_lost';
      readonly trigger: 'startup' | 'schedule' | 'demand' | 'rejection' | 'operator';
      /** The call to the gateway alone. */
      readonly callMs: number;
      readonly code?: string;
    };
