import { BrokerError, type UnavailableReason } from '#libs/errors';
import type { Cause } from './merchant-condition.js';

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

/** There is no session for whoever asks: with the reason for programs, and what libs/causes has words for. */
export class SessionUnavailable extends BrokerError {
  readonly because: Cause | undefined;

  constructor({ why, causeFor }: Explainer, refusal: Refusal) {
    const { merchant, detail, retryAfterMs, reason = why(merchant) } = refusal;
    super('session_unavailable', { detail, reason, retryAfterMs });
    this.because = refusal.cause ?? causeFor(merchant);
  }
}
