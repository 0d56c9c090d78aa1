import { type Instant, plusMs, toRfc3339 } from '#libs/clock';
import { type UnavailableReason, unavailableReasons } from '#libs/errors';
import { type Cause, causeOf, clause } from './failure-cause.js';
import { sharedFailureKinds } from './gateway-failure.js';
import type { RecordedFailure } from './ports/session-store.js';
import type { ReportedDeath } from './reported-deaths.js';
import type { ServeVerdict } from './serve-decision.js';

/** What is known of a merchant that may not be well. */
export interface ExplainedFacts {
  readonly result: ServeVerdict['result'];
  readonly failure: RecordedFailure | undefined;
  readonly isForeign: boolean;
  /** Of the session that is served. */
  readonly reported: ReportedDeath | undefined;
  readonly now: Instant;
  /** Asked only when no fresh session is served, or one that was reported dead. */
  readonly why: () => UnavailableReason;
}

const FOREIGN: Cause = {
  text: 'somebody else creates sessions of the merchant, and each ends ours',
  runbook: 'foreign-authorizer',
};

const isFailureKind = (reason: string): boolean => sharedFailureKinds.some((kind) => kind === reason);

const REPORTED = 'consumers report the session dead, and it';
const SHARE_SPENT: UnavailableReason = 'budget_exhausted';
/** Of a report that found nothing in its way, or nothing that lasts. */
const UNTOLD: ReadonlySet<UnavailableReason> = new Set(['renewing', 'not_replaced', 'expired', 'no_session']);
const NEARLY_A_MINUTE_MS = 59_999;

/**
 * Why a merchant has no fresh session, or why it will have none soon: what ended the last call where that is the reason, and
 * otherwise what keeps anybody from making one. Undefined for a merchant that is well.
 */
export function explain(facts: ExplainedFacts): Cause | undefined {
  const { result, failure, isForeign, reported, why } = facts;
  if (result === 'fresh' && isForeign) return FOREIGN;
  if (reported !== undefined) return ofReported(reported, facts);
  if (result === 'fresh') return failure === undefined ? undefined : causeOf(failure);
  return ofReason(why(), failure);
}

function ofReason(reason: UnavailableReason, failure: RecordedFailure | undefined): Cause {
  if (failure !== undefined && isFailureKind(reason)) return causeOf(failure);
  const { page, runbook } = unavailableReasons[reason];
  return { text: clause(page), runbook };
}

function ofReported({ shareSpentUntil }: ReportedDeath, { failure, why, now }: ExplainedFacts): Cause {
  if (shareSpentUntil !== undefined) {
    const { runbook } = unavailableReasons[SHARE_SPENT];
    const until = untilText(shareSpentUntil, now);
    return {
      text: `${REPORTED} cannot be replaced: the share of the budget for that is spent until ${until}`,
      runbook,
    };
  }
  const reason = why();
  if (UNTOLD.has(reason)) {
    return { text: `${REPORTED} has not been replaced yet`, runbook: unavailableReasons.not_replaced.runbook };
  }
  const { text, runbook } = ofReason(reason, failure);
  return { text: `${REPORTED} is not replaced: ${text}`, runbook };
}

/** Never too early, and with the day where that is another one. */
function untilText(until: Instant, now: Instant): string {
  const [day, time] = toRfc3339(plusMs(until, NEARLY_A_MINUTE_MS)).split('T');
  const isToday = toRfc3339(now).startsWith(day ?? '');
  return `${isToday ? '' : `${day} `}${time?.slice(0, 5)} UTC`;
}
