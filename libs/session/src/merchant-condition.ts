import type { Instant } from '#libs/clock';
import type { UnavailableReason } from '#libs/errors';
import { decide, type DecisionTable, otherwise } from './decision-table.js';
import { sharedFailureKinds } from './gateway-failure.js';
import type { CreateCallWindow, RecordedFailure } from './ports/session-store.js';
import type { ServeVerdict } from './serve-decision.js';
import type { Session } from './session.js';

/** How a merchant is, worst first: its state for reads, and what reads do not show. */
export const merchantConditions = [
  /** There is no session. */
  'unavailable',
  /** Somebody else creates sessions, and each ends ours; or did, and may again. */
  'foreign_authorizer',
  /** The session is served, and is dead: consumers say so, or the gateway has made one that is of no use to us. */
  'dead',
  /** Past the safety margin. */
  'stale',
  /** The session is good, and nothing newer is made although it is due. */
  'failing',
  'fresh',
] as const;

export type MerchantCondition = (typeof merchantConditions)[number];

/** What is wrong with a store that does not work. */
export type StoreTrouble = 'silent' | 'refuses';

/** The name by which consumers and people know it. */
export const reasonOfTrouble = { silent: 'store_silent', refuses: 'store_refuses' } as const satisfies Record<
  StoreTrouble,
  UnavailableReason
>;

/** No create call is left for anybody, the schedule included. */
export interface SpentBudget {
  /** When the next call is free. */
  readonly freeAt: Instant;
  /** The window that refuses for longest, if known. */
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
  /** Whatever is held, served or not. */
  readonly session: Pick<Session, 'createdAt' | 'expiresAt'> | undefined;
  /** The moment of renewal is over. */
  readonly isDue: boolean;
  /** By this replica, at this moment. */
  readonly isRenewing: boolean;
  /** Of the last attempt of any replica, unless a session has come since. */
  readonly failure: ToldFailure | undefined;
  /** The generation of a newer session in the store that none of this replica's keys opens. */
  readonly unopened: number | undefined;
  /** Whether a new session ends the one before it. */
  readonly supersedes: boolean;
  /** Consumers say that the held session is dead, and nothing newer could be had for that. */
  readonly reported: { readonly coolsDownUntil?: Instant; readonly shareSpentUntil?: Instant } | undefined;
  /** Somebody else creates sessions. */
  readonly isForeign: boolean;
  /** With `isForeign`, while nobody says that the newest session is dead: when that counts as over. */
  readonly watchedUntil: Instant | undefined;
  /** No call is left for anybody. */
  readonly spent: SpentBudget | undefined;
  /** No call is left, or none of the share for wishes. */
  readonly isBudgetSpent: boolean;
  readonly store: StoreTrouble | undefined;
}

export type Check = (facts: MerchantFacts) => boolean;

export const isUnserved: Check = ({ serving }) => serving.result === 'unavailable';
export const isReported: Check = ({ reported }) => reported !== undefined;
/** The gateway has made a session that is of no use to us, or to this replica. */
export const isLost: Check = ({ failure, unopened, supersedes }) =>
  supersedes && (failure?.trace?.lostSession === true || unopened !== undefined);
export const isHeldByStore: Check = ({ store }) => store !== undefined;
/** No call is free before the session ends, or although it is due. */
const isHeldByBudget: Check = ({ spent, session, isDue, isRenewing }) =>
  // The call under way may be the one that spent it.
  spent !== undefined && !isRenewing && (isDue || (session !== undefined && spent.freeAt >= session.expiresAt));

const conditions: DecisionTable<MerchantFacts, MerchantCondition> = [
  [isUnserved, 'unavailable'],
  [({ isForeign }) => isForeign, 'foreign_authorizer'],
  [isReported, 'dead'],
  [isLost, 'dead'],
  [({ serving }) => serving.result === 'stale', 'stale'],
  [({ failure }) => failure !== undefined, 'failing'],
  [({ unopened }) => unopened !== undefined, 'failing'],
  [isHeldByBudget, 'failing'],
  [(facts) => facts.isDue && !facts.isRenewing && isHeldByStore(facts), 'failing'],
  [otherwise, 'fresh'],
];

/** How a merchant is at this moment, as the replica sees it. */
export function conditionOf(facts: MerchantFacts): MerchantCondition {
  return decide(conditions, facts);
}

/** First what keeps anybody from trying, then how the last attempt ended. */
const reasons: DecisionTable<MerchantFacts, UnavailableReason> = [
  [({ isBudgetSpent, reported }) => isBudgetSpent || reported?.shareSpentUntil !== undefined, 'budget_exhausted'],
  [({ store }) => store === 'silent', 'store_silent'],
  [({ store }) => store === 'refuses', 'store_refuses'],
  ...sharedFailureKinds.map((kind) => [({ failure }: MerchantFacts) => failure?.kind === kind, kind] as const),
  [({ isRenewing }) => isRenewing, 'renewing'],
  [({ serving }) => serving.reason === 'expired', 'expired'],
  [({ serving }) => serving.reason === 'no_session', 'no_session'],
  [otherwise, 'not_replaced'],
];

/** Why nothing is served, or nothing newer than what was rejected. */
export function whyUnavailable(facts: MerchantFacts): UnavailableReason {
  return decide(reasons, facts);
}
