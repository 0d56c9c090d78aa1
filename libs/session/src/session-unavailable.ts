import { BrokerError, type UnavailableReason } from '#libs/errors';
import type { Cause } from './failure-cause.js';

/** What is known about a merchant whose session is not served. */
export interface Explainer {
  readonly why: (merchant: string) => UnavailableReason;
  readonly causeFor: (merchant: string) => Cause | undefined;
}

interface Refusal {
  readonly merchant: string;
  /** Set if it differs from what everybody is told. */
  readonly reason?: UnavailableReason | undefined;
  /** Set if it differs from what everybody is told. */
  readonly cause?: Cause | undefined;
  /** For the log. */
  readonly detail: string;
  readonly retryAfterMs: number;
}

/**
 * The one refusal for anyone who asks for a session that is not there: with the reason for programs, and the cause for
 * people.
 */
export function sessionUnavailable({ why, causeFor }: Explainer, refusal: Refusal): BrokerError {
  const { merchant, detail, retryAfterMs, reason = why(merchant) } = refusal;
  const cause = refusal.cause ?? causeFor(merchant);
  return new BrokerError('session_unavailable', {
    detail,
    reason,
    publicCause: cause?.text,
    retryAfterMs,
  });
}
