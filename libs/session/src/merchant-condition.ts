import type { Instant } from '#libs/clock';
import type { UnavailableReason } from '#libs/errors';
import { decide, type DecisionTable, type ServeVerdict } from './decisions.js';
import { type SharedFailureKind, sharedFailureKinds } from './gateway-failure.js';
import type { RecordedFailure, RenewalResult } from './ports/session-store.js';
import type { CreateCallWindow, Session } from './session.js';

/** How a merchant is, worst first: its state for reads, and what reads do not show. */
export const merchantConditions = [
  'unavailable',
  /** Somebody else creates sessions, and each ends ours; or did, and may again. */
  'foreign_authorizer',
  /** The session is served, and is dead: consumers say so, or the gateway has made one that is of no use to us. */
  'dead',
  'stale',
  /** The session is good, and nothing newer is made although it is due. */
  'failing',
  'fresh',
] as const;

export type MerchantCondition = (typeof merchantConditions)[number];

export type StoreTrouble = 'store_silent' | 'store_refuses';

/** No create call is left for anybody, the schedule included. */
interface SpentBudget {
  readonly freeAt: Instant;
  readonly window?: CreateCallWindow;
}

/** A failure that replicas share, plus what this one knows itself. */
export interface ToldFailure extends RecordedFailure {
  /** The thumbprint of our newest client key; if absent, that of the key with which the gateway was asked. */
  readonly newestKey?: string;
}

/** What one replica knows of a merchant at one moment: its condition, its reason and its cause follow from it alone. */
export interface MerchantFacts {
  readonly serving: ServeVerdict;
  readonly session: Pick<Session, 'createdAt' | 'expiresAt'> | undefined;
  readonly isDue: boolean;
  readonly isRenewing: boolean;
  /** Of the last attempt of any replica, unless a session has come since. */
  readonly failure: ToldFailure | undefined;
  /** The generation of a newer session in the store that none of this replica's keys opens. */
  readonly unopened: number | undefined;
  readonly supersedes: boolean;
  /** Consumers say that the held session is dead, and nothing newer could be had for that. */
  readonly isReportedDead: boolean;
  readonly isForeign: boolean;
  /** With `isForeign`, while nobody says that the newest session is dead: when that counts as over. */
  readonly watchedUntil: Instant | undefined;
  readonly spent: SpentBudget | undefined;
  /** No call is left, or none of the share for wishes. */
  readonly isBudgetSpent: boolean;
  readonly store: StoreTrouble | undefined;
}

type Check = (facts: MerchantFacts) => boolean;

const isUnserved: Check = ({ serving }) => serving.result === 'unavailable';
/** The gateway has made a session that is of no use to us, or to this replica. */
const isLost: Check = ({ failure, unopened, supersedes }) =>
  supersedes && (failure?.trace?.lostSession === true || unopened !== undefined);
/** No call is free before the session ends, or although it is due. */
const isHeldByBudget: Check = ({ spent, session, isDue, isRenewing }) =>
  // The call under way may be the one that spent it.
  spent !== undefined && !isRenewing && (isDue || (session !== undefined && spent.freeAt >= session.expiresAt));

const conditions: DecisionTable<MerchantFacts, MerchantCondition> = {
  checks: [
    [isUnserved, 'unavailable'],
    [({ isForeign }) => isForeign, 'foreign_authorizer'],
    [({ isReportedDead }) => isReportedDead, 'dead'],
    [isLost, 'dead'],
    [({ serving }) => serving.result === 'stale', 'stale'],
    [({ failure }) => failure !== undefined, 'failing'],
    [({ unopened }) => unopened !== undefined, 'failing'],
    [isHeldByBudget, 'failing'],
    [({ isDue, isRenewing, store }) => isDue && !isRenewing && store !== undefined, 'failing'],
  ],
  otherwise: 'fresh',
};

export function conditionOf(facts: MerchantFacts): MerchantCondition {
  return decide(conditions, facts);
}

/** First what keeps anybody from trying, then how the last attempt ended. */
const reasons: DecisionTable<MerchantFacts, UnavailableReason> = {
  checks: [
    [({ isBudgetSpent }) => isBudgetSpent, 'budget_exhausted'],
    [({ store }) => store === 'store_silent', 'store_silent'],
    [({ store }) => store === 'store_refuses', 'store_refuses'],
    ...sharedFailureKinds.map((kind) => [({ failure }: MerchantFacts) => failure?.kind === kind, kind] as const),
    [({ isRenewing }) => isRenewing, 'renewing'],
    [({ serving }) => serving.reason === 'expired', 'expired'],
    [({ serving }) => serving.reason === 'no_session', 'no_session'],
  ],
  otherwise: 'not_replaced',
};

/** Why nothing is served, or nothing newer than what was rejected. */
export function whyUnavailable(facts: MerchantFacts): UnavailableReason {
  return decide(reasons, facts);
}

/**
 * What a cause does: payments fail; they fail by what consumers report; no newer session is made while they go on. For
 * a person who wanted a newer session: no call was made.
 */
export type CauseEffect = 'payments_fail' | 'reported_dead' | 'not_renewed' | 'no_call';

export type FailedCall = { readonly code: SharedFailureKind } & Partial<Omit<ToldFailure, 'kind'>>;

/** What is wrong, for programs; libs/causes has the words. Absent members are unknown. */
export type Cause = (
  | FailedCall
  /** No create call is left, or none of the share for reports. */
  | { readonly code: 'budget_exhausted'; readonly spent?: SpentBudget }
  | { readonly code: 'foreign_authorizer' }
  /** Somebody else created sessions until `failedUntil`, and nobody has reported the newest one dead. */
  | { readonly code: 'watched'; readonly failedUntil: Instant; readonly watchedUntil: Instant }
  /** A newer session in the store opens with none of this replica's keys. */
  | { readonly code: 'unopened'; readonly generation: number }
  /** Nothing newer has come for a report. */
  | { readonly code: 'not_replaced' }
  | { readonly code: 'store_silent' | 'store_refuses' | 'renewing' | 'expired' | 'no_session' | 'not_tried' }
) & { readonly effect?: CauseEffect };

type Finder = (facts: MerchantFacts) => Cause | undefined;

/** While nothing was tried, or the answer opens with another key than ours, the key alone is missing. */
const unopened: Finder = (facts) => {
  const { unopened: generation, failure } = facts;
  const isOther = isUnserved(facts) && failure !== undefined && failure.trace?.thumbprint === undefined;
  return generation === undefined || isOther ? undefined : { code: 'unopened', generation };
};

const foreign: Finder = (facts) => {
  const { isForeign, watchedUntil, session, isBudgetSpent } = facts;
  // What spends the calls is whoever ends the sessions.
  if (!isForeign || (isUnserved(facts) && !isBudgetSpent)) return undefined;
  const isDead = isUnserved(facts) || facts.isReportedDead || isLost(facts);
  if (isDead || watchedUntil === undefined || session === undefined) return { code: 'foreign_authorizer' };
  return { code: 'watched', failedUntil: session.createdAt, watchedUntil };
};

const store: Finder = (facts) => (facts.store !== undefined ? { code: facts.store } : undefined);

const failed: Finder = ({ failure }) => {
  if (failure === undefined) return undefined;
  const { kind: code, ...known } = failure;
  return { code, ...known };
};

const budget: Finder = ({ spent, isBudgetSpent }) => {
  if (spent !== undefined) return { code: 'budget_exhausted', spent };
  return isBudgetSpent ? { code: 'budget_exhausted' } : undefined;
};

const report: Finder = ({ isReportedDead }) => (isReportedDead ? { code: 'not_replaced' } : undefined);

const untried = ({ isRenewing, serving }: MerchantFacts): Cause => {
  if (isRenewing) return { code: 'renewing' };
  return { code: serving.reason === 'expired' || serving.reason === 'no_session' ? serving.reason : 'not_tried' };
};

/**
 * The first that is found is what somebody has to see to. A failure comes before the budget: the failing attempts are
 * what spent it.
 */
const finders: readonly Finder[] = [unopened, foreign, store, failed, budget, report];

/** Why a merchant has no fresh session, or soon will have none. Undefined for a merchant that is well. */
export function causeOf(facts: MerchantFacts): Cause | undefined {
  const condition = conditionOf(facts);
  if (condition === 'fresh') return undefined;
  const cause = finders.map((find) => find(facts)).find((found) => found !== undefined) ?? untried(facts);
  // Payments go on, as far as anybody knows, and the cause says so itself.
  return cause.code === 'watched' ? cause : { ...cause, effect: effectOf(facts) };
}

function effectOf(facts: MerchantFacts): CauseEffect {
  const condition = conditionOf(facts);
  if (condition === 'stale' || condition === 'failing') return 'not_renewed';
  return condition === 'dead' && !isLost(facts) ? 'reported_dead' : 'payments_fail';
}

/**
 * What a person is told who wanted a newer session at once and gets none: what refused this wish, or what ended its call.
 * @param refusedBy undefined if nothing came in time
 */
export function refusalOf(
  refusedBy: RenewalResult['kind'] | undefined,
  facts: MerchantFacts,
): { readonly cause?: Cause; readonly reason?: UnavailableReason } {
  if (refusedBy === 'store_down' && facts.store !== undefined) {
    return { cause: { code: facts.store, effect: 'no_call' }, reason: facts.store };
  }
  if (refusedBy === 'budget_exhausted') {
    return { cause: { ...(budget(facts) ?? { code: refusedBy }), effect: 'no_call' } };
  }
  const ended = failed(facts);
  if (ended === undefined) return {};
  // Who asked knows that it is not renewed.
  return { cause: isUnserved(facts) ? { ...ended, effect: 'payments_fail' } : ended };
}
