/**
 * Each reason for not serving a session (503 `session_unavailable`), with what the caller is told: the `detail` of the
 * answer, constant, public and free of data. The titles of gateway failures are the same, and a test keeps the table in
 * docs/reference/errors.md in sync. The reasons are a contract and are never renamed;
 * `libs/session/src/merchant-condition.ts` decides which of them applies.
 */
export const unavailableReasons = {
  budget_exhausted: 'The create-call budget of the merchant is spent',
  store_silent: 'The session store does not answer',
  store_refuses: 'The session store refuses to work',
  transient: 'The gateway failed in a way that usually passes',
  timeout: 'The gateway did not answer in time',
  refused: 'The gateway refuses the merchant or the request',
  revoked: 'The gateway has revoked the access; only the bank can restore it',
  invalid_response: 'The gateway answered with something that is not a session',
  key_unavailable: 'The private key of the merchant cannot be used at the moment',
  cooled_down: 'A session was created for a rejection just now, and is rejected again',
  renewing: 'A session is being created',
  expired: 'The last session has expired, and no newer one has come yet',
  no_session: 'No session has been created yet',
  not_replaced: 'The session that was rejected has not been replaced yet',
} as const;

export type UnavailableReason = keyof typeof unavailableReasons;
