import { type UnavailableReason, unavailableReasons } from '#libs/errors';
import { type Cause, causeOf, clause } from './failure-cause.js';
import { sharedFailureKinds } from './gateway-failure.js';
import type { RecordedFailure } from './ports/session-store.js';
import type { ServeVerdict } from './serve-decision.js';

/** What is known of a merchant that may not be well. */
export interface ExplainedFacts {
  readonly result: ServeVerdict['result'];
  readonly failure: RecordedFailure | undefined;
  readonly isForeign: boolean;
  /** Asked only when no fresh session is served. */
  readonly why: () => UnavailableReason;
}

const FOREIGN: Cause = {
  text: 'somebody else creates sessions of the merchant, and each ends ours',
  runbook: 'foreign-authorizer',
};

const isFailureKind = (reason: string): boolean => sharedFailureKinds.some((kind) => kind === reason);

/**
 * Why a merchant has no fresh session, or why it will have none soon: what ended the last call where that is the reason, and
 * otherwise what keeps anybody from making one. Undefined for a merchant that is well.
 */
export function explain({ result, failure, isForeign, why }: ExplainedFacts): Cause | undefined {
  if (result === 'fresh') {
    if (isForeign) return FOREIGN;
    return failure === undefined ? undefined : causeOf(failure);
  }
  const reason = why();
  if (failure !== undefined && isFailureKind(reason)) return causeOf(failure);
  const { page, runbook } = unavailableReasons[reason];
  return { text: clause(page), runbook };
}
