/** Why there is no session to serve, in the words used everywhere. */
interface ReasonWords {
  /** For the caller: the `detail` of the answer. Constant, public, free of data. */
  readonly caller: string;
  /** For the reader of the status page: what is wrong, and what comes next. */
  readonly page: string;
  /** The page of docs/runbooks that takes it from here. */
  readonly runbook: string;
}

/**
 * Each reason for not serving a session (503 `session_unavailable`), declared once: the problem details, the log, the
 * status page and the titles of gateway failures are all built from here, and a test keeps the table in docs/errors.md
 * in sync. The reasons are a contract and are never renamed; `libs/session/src/why-unavailable.ts` decides which of
 * them applies.
 */
export const unavailableReasons = {
  budget_exhausted: {
    caller: 'The create-call budget of the merchant is spent',
    page: 'The create-call budget is spent: no call is made until the window allows one',
    runbook: 'budget-exhausted',
  },
  store_silent: {
    caller: 'The session store does not answer',
    page: 'The store does not answer, so that no session can be created',
    runbook: 'store-down',
  },
  store_refuses: {
    caller: 'The session store refuses to work',
    page: 'The store refuses what it is asked, so that no session can be created',
    runbook: 'store-down',
  },
  transient: {
    caller: 'The gateway failed in a way that usually passes',
    page: 'The last create call failed in a way that usually passes; it is repeated with growing pauses',
    runbook: 'renewals-failing',
  },
  timeout: {
    caller: 'The gateway did not answer in time',
    page: 'The gateway did not answer the last create call in time; it is repeated with growing pauses',
    runbook: 'renewals-failing',
  },
  refused: {
    caller: 'The gateway refuses the merchant or the request',
    page: 'The gateway refuses the merchant or the request; it is asked again every five minutes',
    runbook: 'access-refused',
  },
  revoked: {
    caller: 'The gateway has revoked the access; only the bank can restore it',
    page: 'The gateway has revoked the access; only the bank can restore it',
    runbook: 'access-refused',
  },
  invalid_response: {
    caller: 'The gateway answered with something that is not a session',
    page: 'The gateway answered with something that is not a session: does the bank have the right client key?',
    runbook: 'renewals-failing',
  },
  key_unavailable: {
    caller: 'The private key of the merchant cannot be used at the moment',
    page: 'The token that keeps the private key does not work, so that no call is made; it is asked again every few seconds',
    runbook: 'renewals-failing',
  },
  cooled_down: {
    caller: 'A session was created for a rejection just now, and is rejected again',
    page: 'Consumers reject session after session',
    runbook: 'rejection-storm',
  },
  renewing: {
    caller: 'A session is being created',
    page: 'A session is being created',
    runbook: 'no-session',
  },
  expired: {
    caller: 'The last session has expired, and no newer one has come yet',
    page: 'The last session has expired, and no attempt has ended since',
    runbook: 'no-session',
  },
  no_session: {
    caller: 'No session has been created yet',
    page: 'No session has been created yet, and no attempt has ended',
    runbook: 'no-session',
  },
  not_replaced: {
    caller: 'The session that was rejected has not been replaced yet',
    page: 'The session that was rejected has not been replaced yet',
    runbook: 'rejection-storm',
  },
} as const satisfies Record<string, ReasonWords>;

export type UnavailableReason = keyof typeof unavailableReasons;
