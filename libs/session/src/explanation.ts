import type { Instant } from '#libs/clock';
import { type UnavailableReason, unavailableReasons } from '#libs/errors';
import {
  allSpentText,
  FOREIGN,
  heldBackCause,
  heldBackClauses,
  momentText,
  notReplacedText,
  ofBudget,
  secondText,
  type SpentBudget,
  untilACallClauses,
} from './budget-cause.js';
import {
  type Cause,
  type Clause,
  causeOf,
  clause,
  joined,
  otherKeyText,
  SAME_KEYS,
  type ToldFailure,
} from './failure-cause.js';
import { sharedFailureKinds } from './gateway-failure.js';
import type { ReportedDeath } from './deaths.js';
import type { ServeVerdict } from './serve-decision.js';
import type { Session } from './session.js';


/** What is known about a merchant that may not be well. */
export interface ExplainedFacts {
  readonly result: ServeVerdict['result'];
  readonly session: Session | undefined;
  readonly failure: ToldFailure | undefined;
  readonly isForeign: boolean;
  /** The gateway has made a session that is of no use to us, and that has ended ours. */
  readonly isLikelyDead: boolean;
  /** The generation of a newer session, possibly made by another replica, that none of this replica's keys opens. */
  readonly unopened: number | undefined;
  /** Another replica has ended one of the merchant's sessions before, and may end this one. */
  readonly strayKey: { readonly failure: ToldFailure; readonly watchedUntil: Instant } | undefined;
  /** The store has not taken the served session, which this replica made. */
  readonly isUnshared: boolean;
  /** About the served session. */
  readonly reported: ReportedDeath | undefined;
  /** To other replicas, but not to this one. */
  readonly isReportedElsewhere: boolean;
  /** Set while no call is left even for the schedule. */
  readonly spent: SpentBudget | undefined;
  /** An attempt was due, but the budget refused it or the store keeps it waiting. */
  readonly isHeldBack: boolean;
  /** Somebody else created sessions, and nobody has reported the held one: when that counts as over. */
  readonly watchedUntil: Instant | undefined;
  /** Somebody else created sessions recently, and nothing shows whether they still do: when a report last showed it. */
  readonly createdUntil: Instant | undefined;
  readonly now: Instant;
  /** Asked only if no fresh session is served, or one that was reported dead, or if its renewal is held back. */
  readonly why: () => UnavailableReason;
}

const isFailureKind = (reason: string): boolean => sharedFailureKinds.some((kind) => kind === reason);

const REPORTED = 'consumers report the session dead, and it';
/** For a report that nothing stood in the way of, or nothing lasting. */
const UNTOLD: ReadonlySet<UnavailableReason> = new Set(['renewing', 'not_replaced', 'expired', 'no_session']);

const ELSEWHERE = 'reported to another replica; its page says by whom';

/** For a session that nobody has rejected, e.g. just after a start. */
const UNTRIED: Cause = { text: 'its renewal is due, and no attempt has ended yet', runbook: 'session-expiring' };

/** Added if a newer session ends the one before. */
const ENDS_THEIRS = ', or stop it before its next attempt, which ends that session';

const LOST: Clause = { text: 'the bank has made a session that we cannot use, and it ends ours' };

const UNSHARED: Cause = {
  text: 'the store has not taken the newest session, which this replica alone has, and which ends those of the others',
  runbook: 'store-down',
};

/**
 * Why a merchant has no fresh session, or soon will have none: what ended the last call if that is the reason,
 * otherwise what keeps anybody from making one. Undefined for a merchant that is well.
 */
export function explain(facts: ExplainedFacts): Cause | undefined {
  const cause = besideOthers(facts);
  const { isLikelyDead, result, unopened } = facts;
  if (unopened !== undefined && (result !== 'unavailable' || lacksKeyAlone(facts))) {
    const text = unopenedText(unopened, isLikelyDead);
    // There is a newer session: saying that none was created, or is being created, would deny it.
    const isUntried = result === 'unavailable' && facts.failure === undefined;
    const behind = isUntried ? othersClause(facts) : cause;
    return joined([{ text }, ...(behind === undefined ? [] : [behind])], 'unopenable-records');
  }
  return isServedUnreported(facts) ? ofServed(facts, cause) : cause;
}

/** What happened to the session that is served, before what keeps the next one from being made. */
function ofServed(facts: ExplainedFacts, cause: Cause | undefined): Cause | undefined {
  const { isLikelyDead, isUnshared } = facts;
  if (isLikelyDead) return cause && joined([LOST, cause], cause.runbook);
  if (isUnshared) return joined([UNSHARED, ...(cause === undefined ? [] : [cause])], UNSHARED.runbook);
  return cause ?? ofStrayKey(facts);
}

/** As in `ofWatched`, the headline itself begins with whose payments failed. */
function ofStrayKey({ strayKey, now }: ExplainedFacts): Cause | undefined {
  if (strayKey === undefined) return undefined;
  const { failure, watchedUntil } = strayKey;
  const asked = `another replica asked the bank with ${otherKeyText(failure)}, which ended our session`;
  const inHeadline = `at ${secondText(failure.at, now)}, when ${asked}`;
  return joined(
    [
      { text: `payments failed ${inHeadline}`, inHeadline },
      { text: `its next attempt ends this one, too: ${SAME_KEYS}` },
      { text: `watched until ${momentText(watchedUntil, now)}` },
    ],
    'unopenable-records',
  );
}

/** If a consumer's report or somebody else's sessions explain it, nothing else is said. */
function isServedUnreported({ result, isForeign, reported }: ExplainedFacts): boolean {
  return result !== 'unavailable' && !isForeign && reported === undefined;
}

function unopenedText(generation: number, isLikelyDead: boolean): string {
  const lacks = `a newer session (generation ${generation}) opens with none of the keys that this replica has`;
  return `${lacks}: give it the key file of the others (clientKeyFiles)${isLikelyDead ? ENDS_THEIRS : ''}`;
}

/** Whoever ends sessions is mentioned even if something keeps the next one from being made. */
function besideOthers(facts: ExplainedFacts): Cause | undefined {
  const cause = explained(facts);
  const isHurt = facts.result === 'unavailable' || (facts.reported !== undefined && !facts.isForeign);
  const others = isHurt ? othersClause(facts) : undefined;
  if (cause === undefined || others === undefined || cause.runbook === FOREIGN.runbook) return cause;
  const { text, inHeadline = text, runbook } = cause;
  return joined([{ text, inHeadline }, others], runbook);
}

function othersClause(facts: ExplainedFacts): Clause | undefined {
  const others = othersText(facts);
  return others === undefined ? undefined : { text: `${others} (runbook: ${FOREIGN.runbook})`, inHeadline: others };
}

function othersText({ isForeign, watchedUntil, session, createdUntil, now }: ExplainedFacts): string | undefined {
  if (isForeign && watchedUntil === undefined) return FOREIGN.text;
  const until = isForeign ? session?.createdAt : createdUntil;
  return until === undefined
    ? undefined
    : `somebody else created sessions until ${secondText(until, now)}, and may again`;
}

/**
 * Nothing was tried, or the answer is sealed to a key other than ours, like the session the others have: only its key
 * keeps this replica from a session.
 */
function lacksKeyAlone({ failure, why }: ExplainedFacts): boolean {
  if (failure !== undefined) return failure.trace?.thumbprint !== undefined;
  const reason = why();
  return reason === 'no_session' || reason === 'expired' || reason === 'renewing';
}

function explained(facts: ExplainedFacts): Cause | undefined {
  const cause = ofFacts(facts);
  if (cause === undefined || !facts.isReportedElsewhere || facts.result === 'unavailable') return cause;
  return joined([cause, { text: ELSEWHERE }], cause.runbook);
}

function ofFacts(facts: ExplainedFacts): Cause | undefined {
  const { result, failure, isForeign, reported, spent, isHeldBack, why } = facts;
  const isServed = result !== 'unavailable';
  if (isServed && isForeign) return ofOthers(facts);
  if (isServed && isHeldBack && spent !== undefined && reported === undefined) {
    return afterFailure(heldBackCause(spent, goodSession(facts), facts), facts);
  }
  if (reported !== undefined) return ofReported(reported, facts);
  if (result === 'fresh' && failure !== undefined) return causeOf(failure);
  if (result === 'fresh' && !isHeldBack) return undefined;
  return ofReason(why(), facts);
}

/** The headline of such a merchant already says that somebody else creates. */
function ofOthers(facts: ExplainedFacts): Cause {
  const { watchedUntil, spent, isHeldBack, now } = facts;
  if (watchedUntil !== undefined) return ofWatched(watchedUntil, facts);
  const others = { text: FOREIGN.text, inHeadline: '' };
  const clauses =
    spent !== undefined && isHeldBack
      ? [...heldBackClauses(spent, goodSession(facts), now), others]
      : [others, ...notReplacedTexts(facts).map((text) => ({ text }))];
  return joined(clauses, FOREIGN.runbook);
}

/**
 * Until when a session that somebody else ends is not replaced: of the obstacles to acting on a report, the one that
 * lasts longest.
 */
function notReplacedTexts({ reported, spent, session, now }: ExplainedFacts): readonly string[] {
  const { coolsDownUntil, shareSpentUntil } = reported ?? {};
  const ofBudgets = spent === undefined ? [] : [allSpentText(spent, now)];
  if (coolsDownUntil !== undefined && coolsDownUntil > (spent?.freeAt ?? now)) {
    const until = `a session that is reported dead is not replaced before ${momentText(coolsDownUntil, now)}`;
    return [...ofBudgets, `${until}: the broker pauses while somebody else creates`];
  }
  if (spent !== undefined || shareSpentUntil === undefined) return ofBudgets;
  return [`a session that is reported dead ${notReplacedText(shareSpentUntil, session?.renewAt, now)}`];
}

/** Payments work, as far as anybody knows. The headline itself begins with whose payments failed. */
function ofWatched(until: Instant, facts: ExplainedFacts): Cause {
  const { session, spent, isHeldBack, failure, now } = facts;
  const since = session === undefined ? '' : `until ${secondText(session.createdAt, now)}: `;
  const others = `${since}somebody else created sessions, and may again`;
  const held = spent !== undefined && isHeldBack ? untilACallClauses(spent, goodSession(facts), now) : [];
  return joined(
    [
      { text: `payments failed ${others}`, inHeadline: others },
      { text: 'the new session since then has not been reported dead' },
      { text: `watched until ${momentText(until, now)}` },
      ...held,
      ...(failure === undefined ? [] : [{ text: `its renewal fails: ${causeOf(failure).text}` }]),
    ],
    FOREIGN.runbook,
  );
}

/**
 * For a spent budget, after what ended the last call: the failing attempts are what spent it, and fixing them fixes the
 * budget. Somebody else who creates sessions comes first all the same.
 */
export function afterFailure(
  ofSpent: Cause,
  { failure, isForeign }: Pick<ExplainedFacts, 'failure' | 'isForeign'>,
): Cause {
  if (failure === undefined || isForeign) return ofSpent;
  const { text, runbook } = causeOf(failure);
  return joined([{ text }, ofSpent], runbook);
}

/** A session that can be paid with until it ends, as far as is known. */
function goodSession({ result, session, isLikelyDead }: Omit<ExplainedFacts, 'why'>): Session | undefined {
  return result === 'unavailable' || isLikelyDead ? undefined : session;
}

function ofReason(reason: UnavailableReason, facts: Omit<ExplainedFacts, 'why'>): Cause {
  const { failure, spent, isForeign, now } = facts;
  if (failure !== undefined && isFailureKind(reason)) return causeOf(failure);
  const { result, reported } = facts;
  if (reason === 'not_replaced' && result !== 'unavailable' && reported === undefined) return UNTRIED;
  const { page, runbook } = unavailableReasons[reason];
  if (reason !== 'budget_exhausted') return { text: clause(page), runbook };
  const cause =
    spent === undefined
      ? ofBudget(clause(page), isForeign)
      : heldBackCause(spent, goodSession(facts), { now, isForeign });
  return afterFailure(cause, facts);
}

function ofReported({ shareSpentUntil, coolsDownUntil }: ReportedDeath, facts: ExplainedFacts): Cause {
  const { session, spent, isForeign, now, why } = facts;
  if (spent !== undefined) {
    const { text, runbook } = afterFailure(ofBudget(allSpentText(spent, now), isForeign), facts);
    return { text: `${REPORTED} cannot be replaced: ${text}`, runbook };
  }
  if (shareSpentUntil !== undefined) {
    return ofBudget(`${REPORTED} ${notReplacedText(shareSpentUntil, session?.renewAt, now)}`, isForeign);
  }
  const reason = why();
  if (UNTOLD.has(reason)) {
    const { runbook } = unavailableReasons.not_replaced;
    const again =
      coolsDownUntil === undefined ? '' : `: it is new, and reports count from ${momentText(coolsDownUntil, now)} on`;
    return { text: `${REPORTED} has not been replaced yet${again}`, runbook };
  }
  const { text, runbook } = ofReason(reason, facts);
  return { text: `${REPORTED} is not replaced: ${text}`, runbook };
}
