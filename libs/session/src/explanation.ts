import type { Instant } from '#libs/clock';
import { type UnavailableReason, unavailableReasons } from '#libs/errors';
import { allSpentText, FOREIGN, heldBackCause, notReplacedText, ofBudget, type SpentBudget } from './budget-cause.js';
import { type Cause, causeOf, clause } from './failure-cause.js';
import { sharedFailureKinds } from './gateway-failure.js';
import type { RecordedFailure } from './ports/session-store.js';
import type { ReportedDeath } from './reported-deaths.js';
import type { ServeVerdict } from './serve-decision.js';
import type { Session } from './session.js';

/** What is known of a merchant that may not be well. */
export interface ExplainedFacts {
  readonly result: ServeVerdict['result'];
  readonly session: Session | undefined;
  readonly failure: RecordedFailure | undefined;
  readonly isForeign: boolean;
  /** Of the session that is served. */
  readonly reported: ReportedDeath | undefined;
  /** While there is no call left for the schedule either. */
  readonly spent: SpentBudget | undefined;
  /** An attempt was due, and the budget refused it. */
  readonly isHeldBack: boolean;
  readonly now: Instant;
  /** Asked only when no fresh session is served, or one that was reported dead. */
  readonly why: () => UnavailableReason;
}

const isFailureKind = (reason: string): boolean => sharedFailureKinds.some((kind) => kind === reason);

const REPORTED = 'consumers report the session dead, and it';
/** Of a report that found nothing in its way, or nothing that lasts. */
const UNTOLD: ReadonlySet<UnavailableReason> = new Set(['renewing', 'not_replaced', 'expired', 'no_session']);

/**
 * Why a merchant has no fresh session, or why it will have none soon: what ended the last call where that is the reason, and
 * otherwise what keeps anybody from making one. Undefined for a merchant that is well.
 */
export function explain(facts: ExplainedFacts): Cause | undefined {
  const { result, session, failure, isForeign, reported, spent, isHeldBack, why } = facts;
  const isFresh = result === 'fresh';
  if (isFresh && isHeldBack && spent !== undefined && (isForeign || reported === undefined)) {
    return heldBackCause(spent, session, facts);
  }
  if (isFresh && isForeign) return FOREIGN;
  if (reported !== undefined) return ofReported(reported, facts);
  if (isFresh) return failure === undefined ? undefined : causeOf(failure);
  return ofReason(why(), facts);
}

/**
 * Why a person who wanted a newer session at once gets none. Who creates sessions of the merchant as well is named, whatever
 * the cause is: another call would end theirs, and theirs ends ours.
 */
export function explainRefusal(merchant: string, facts: ExplainedFacts): Cause | undefined {
  const { spent, isForeign, now } = facts;
  const own = { ...facts, isForeign: false };
  const cause = spent === undefined ? explain(own) : ofBudget(allSpentText(spent, now), false);
  if (!isForeign) return cause;
  const others = `somebody else ends the sessions of ${merchant} (runbook: ${FOREIGN.runbook})`;
  return { text: cause === undefined ? others : `${cause.text}; ${others}`, runbook: FOREIGN.runbook };
}

function ofReason(
  reason: UnavailableReason,
  { result, session, failure, spent, isForeign, now }: Omit<ExplainedFacts, 'why'>,
): Cause {
  if (failure !== undefined && isFailureKind(reason)) return causeOf(failure);
  const { page, runbook } = unavailableReasons[reason];
  if (reason !== 'budget_exhausted') return { text: clause(page), runbook };
  if (spent === undefined) return ofBudget(clause(page), isForeign);
  return heldBackCause(spent, result === 'unavailable' ? undefined : session, { now, isForeign });
}

function ofReported({ shareSpentUntil }: ReportedDeath, facts: ExplainedFacts): Cause {
  const { session, spent, isForeign, now, why } = facts;
  if (spent !== undefined) return ofBudget(`${REPORTED} cannot be replaced: ${allSpentText(spent, now)}`, isForeign);
  if (shareSpentUntil !== undefined) {
    return ofBudget(`${REPORTED} ${notReplacedText(shareSpentUntil, session?.renewAt, now)}`, isForeign);
  }
  const reason = why();
  if (UNTOLD.has(reason)) {
    return { text: `${REPORTED} has not been replaced yet`, runbook: unavailableReasons.not_replaced.runbook };
  }
  const { text, runbook } = ofReason(reason, facts);
  return { text: `${REPORTED} is not replaced: ${text}`, runbook };
}
