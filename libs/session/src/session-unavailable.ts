import { BrokerError, type UnavailableReason } from '#libs/errors';
import type { Cause } from './failure-cause.js';

/** What is known of a merchant whose session is not served. */
export interface Explainer {
  readonly why: (merchant: string) => UnavailableReason;
  readonly causeFor: (merchant: string) => Cause | undefined;
}

interface Refusal {
  readonly merchant: string;
  /** Where it is another one than everybody is told. */
  readonly reason?: UnavailableReason | undefined;
  /** Where it is another one than everybody is told. */
  readonly cause?: Cause | undefined;
  /** For the log. */
  readonly detail: string;
  readonly retryAfterMs: number;
}

/** The one refusal of whoever asks for a session that is not there: with the reason for programs, and the cause for people. */
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
