import type { GatewayFailureKind } from './gateway-failure.js';

const FIRST_BOUND_MS = 2_000;
const MIN_MS = 1_000;
const MAX_MS = 60_000;
/** Without a connection nothing was asked of the gateway, so that trying again costs it nothing. */
const MAX_UNREACHED_MS = 3_000;
/** For failures that only a person can mend; a `Retry-After` cannot ask for more either. */
const SLOW_RETRY_MS = 300_000;
const SLOW_RETRY_JITTER = 0.1;
/** No attempt is ever put off for longer. */
export const MAX_BACK_OFF_MS = SLOW_RETRY_MS * (1 + SLOW_RETRY_JITTER);

interface FailedAttempt {
  readonly kind: GatewayFailureKind;
  /** Failed attempts in a row before this one. */
  readonly failures: number;
  /** False when there was not even a connection. */
  readonly wasReached: boolean;
  /** What the gateway asked for. */
  readonly retryAfterMs: number | undefined;
}

/**
 * The one retry policy: when a merchant falls due again after a failed attempt, in milliseconds.
 * @param random in [0, 1)
 */
export function retryDelayMs(attempt: FailedAttempt, random: number): number {
  const askedForMs = Math.min(attempt.retryAfterMs ?? 0, SLOW_RETRY_MS);
  switch (attempt.kind) {
    case 'aborted':
      return 0;
    case 'refused':
    case 'revoked':
      return SLOW_RETRY_MS * (1 + SLOW_RETRY_JITTER * random);
    case 'transient':
    case 'timeout':
    case 'invalid_response':
      return Math.max(askedForMs, backOffMs(attempt, random));
  }
}

/** Full jitter between one second and a bound that doubles from 2 s to 60 s: never zero, never in step. */
function backOffMs({ failures, wasReached }: FailedAttempt, random: number): number {
  const maxMs = wasReached ? MAX_MS : MAX_UNREACHED_MS;
  const boundMs = Math.min(maxMs, FIRST_BOUND_MS * 2 ** Math.min(failures, 10));
  return MIN_MS + random * (boundMs - MIN_MS);
}
