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
import type { ReportedDeath } from './reported-deaths.js';
import type { ServeVerdict } from './serve-decision.js';
import type { Session } from './session.js';
import type { StrayKey } from './stray-keys.js';

/** What is known of a merchant that may not be well. */
export interface ExplainedFacts {
  readonly result: ServeVerdict['result'];
  readonly session: Session | undefined;
  readonly failure: ToldFailure | undefined;
  readonly isForeign: boolean;
  /** The gateway has made a session that is of no use to us, and that has ended ours. */
  readonly isLikelyDead: boolean;
  /** The generation of a newer session, which another replica may have made, and which opens with none of the keys of this one. */
  readonly unopened: number | undefined;
  /** Another replica has ended one of its sessions before, and may end this one. */
  readonly strayKey: StrayKey | undefined;
  /** The store has not taken the session that is served, which this replica has made. */
  readonly isUnshared: boolean;
  /** Of the session that is served. */
  readonly reported: ReportedDeath | undefined;
  /** To another replica, and to none but others. */
  readonly isReportedElsewhere: boolean;
  /** While there is no call left for the schedule either. */
  readonly spent: SpentBudget | undefined;
  /** An attempt was due, and the budget refused it, or the store keeps it waiting. */
  readonly isHeldBack: boolean;
  /** Somebody else created, and nobody has reported the session that is held: when that counts as over. */
  readonly watchedUntil: Instant | undefined;
  /** Somebody else created not long ago, and nothing says whether they still do: when a report last showed it. */
  readonly createdUntil: Instant | undefined;
  readonly now: Instant;
  /** Asked only when no fresh session is served, or one that was reported dead. */
  readonly why: () => UnavailableReason;
}

const isFailureKind = (reason: string): boolean => sharedFailureKinds.some((kind) => kind === reason);

const REPORTED = 'consumers report the session dead, and it';
/** Of a report that found nothing in its way, or nothing that lasts. */
const UNTOLD: ReadonlySet<UnavailableReason> = new Set(['renewing', 'not_replaced', 'expired', 'no_session']);

const ELSEWHERE = 'reported to another replica; its page says by whom';

/** Of a session that nobody has rejected, such as just after a start. */
const UNTRIED: Cause = { text: 'its renewal is due, and no attempt has ended yet', runbook: 'session-expiring' };

/** Where a newer session ends the one before. */
const ENDS_THEIRS = ', or stop it before its next attempt, which ends that session';

const LOST: Clause = { text: 'the bank has made a session that we cannot use, and it ends ours' };

const UNSHARED: Cause = {
  text: 'the store has not taken the newest session, which this replica alone has, and which ends those of the others',
  runbook: 'store-down',
};

/**
 * Why a merchant has no fresh session, or why it will have none soon: what ended the last call where that is the reason, and
 * otherwise what keeps anybody from making one. Undefined for a merchant that is well.
 */
export function explain(facts: ExplainedFacts): Cause | undefined {
  const cause = besideOthers(facts);
  const { isLikelyDead, result, unopened } = facts;
  if (unopened !== undefined && (result !== 'unavailable' || lacksKeyAlone(facts))) {
    const text = unopenedText(unopened, isLikelyDead);
    // There is a newer session: that none was created, or is being created, would deny it.
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

/** As of somebody else who created sessions, the headline begins with whose payments failed. */
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

/** Of what a consumer or somebody else who creates shows, no more than that is told. */
function isServedUnreported({ result, isForeign, reported }: ExplainedFacts): boolean {
  return result !== 'unavailable' && !isForeign && reported === undefined;
}

function unopenedText(generation: number, isLikelyDead: boolean): string {
  const lacks = `a newer session (generation ${generation}) opens with none of the keys that this replica has`;
  return `${lacks}: give it the key file of the others (clientKeyFiles)${isLikelyDead ? ENDS_THEIRS : ''}`;
}

/** Whoever ends sessions is not forgotten over what keeps the next one from being made. */
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
  const until = isForeign ? (session?.watchedSince ?? session?.createdAt) : createdUntil;
  return until === undefined
    ? undefined
    : `somebody else created sessions until ${secondText(until, now)}, and may again`;
}

/** Nothing was tried, or the answer is sealed to another key than ours, as is what the others have: what keeps it from a session is its key. */
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

/** The headline of such a merchant says itself that somebody else creates. */
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

/** Until when a session that somebody else ends is not replaced: of what keeps a report from it, what does so for longest. */
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

/** Payments go on, as far as anybody knows. The headline begins with whose payments failed. */
function ofWatched(until: Instant, facts: ExplainedFacts): Cause {
  const { session, spent, isHeldBack, failure, now } = facts;
  const since = session === undefined ? '' : `until ${secondText(session.watchedSince ?? session.createdAt, now)}: `;
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
 * Of a budget that is spent, after what ended the last call: attempts that fail are what it was spent on, and with them it is mended.
 * Somebody else who creates sessions comes first all the same.
 */
export function afterFailure(
  ofSpent: Cause,
  { failure, isForeign }: Pick<ExplainedFacts, 'failure' | 'isForeign'>,
): Cause {
  if (failure === undefined || isForeign) return ofSpent;
  const { text, runbook } = causeOf(failure);
  return joined([{ text }, ofSpent], runbook);
}

/** One that somebody can pay with until it ends, as far as is known. */
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
