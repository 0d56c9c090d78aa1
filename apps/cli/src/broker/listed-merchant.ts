import { instantFromEpochMs } from '#libs/clock';
import { conditionColours, conditionWord, merchantConditions, momentText, secondText } from '#libs/session';
import type { ExitClass } from '../exit-codes.js';

/** As much of a merchant listed by `GET /v1/merchants` as is shown. */
export interface ListedMerchant {
  readonly id: string;
  readonly state: string;
  /** Brokers of version 0.1 do not send it. */
  readonly condition?: string;
  readonly reason: string;
  readonly renewing: boolean;
  /** The store is unavailable, and nothing may be renewed without it. Brokers of version 0.1 do not send it. */
  readonly renewalBlocked?: boolean;
  readonly generation?: number;
  readonly expiresAt?: string;
  readonly renewAt?: string;
  readonly retryAt?: string;
  /**
   * Someone else created sessions for it not long ago, and may still do so: since when no consumer has reported a dead
   * one to the replica.
   */
  readonly quietSince?: string;
  readonly cause?: string;
  readonly runbook?: string;
  readonly lastFailure?: {
    readonly kind: string;
    readonly msgCode?: string;
    /** Brokers of version 0.1 do not send it. */
    readonly gatewayRequestId?: string;
    /** Brokers of version 0.1 never set it. */
    readonly wrongAddress?: boolean;
    readonly at: string;
  };
}

export type Tone = (typeof conditionColours)[keyof typeof conditionColours];

interface ShownCondition {
  readonly word: string;
  readonly tone: Tone;
}

/** In the words of the status page. A merchant that looks well is shown in yellow if there is more to say about it. */
export function shownCondition(merchant: ListedMerchant): ShownCondition {
  const { word, tone } = conditionShown(merchant);
  return { word, tone: tone === 'green' && merchant.quietSince !== undefined ? 'yellow' : tone };
}

/** Whether nothing is known to be wrong with it. */
export function isWell(merchant: ListedMerchant): boolean {
  const { tone } = conditionShown(merchant);
  return tone === 'green' || tone === 'blue';
}

/** A condition that this version does not know is shown as received. */
function conditionShown({ state, reason, condition = state }: ListedMerchant): ShownCondition {
  const known = merchantConditions.find((one) => one === condition);
  if (known === undefined) return { word: condition.replaceAll('_', ' '), tone: 'yellow' };
  return { word: conditionWord(known, reason === 'expired' ? reason : undefined), tone: conditionColours[known] };
}

/** What is wrong with a merchant, and where to read more; undefined if nothing is known to be wrong. */
export function causeText({ cause, runbook = '-' }: Pick<ListedMerchant, 'cause' | 'runbook'>): string | undefined {
  return cause === undefined ? undefined : `${cause} (runbook: ${runbook})`;
}

/**
 * When the next attempt comes after a failed one, to append to a cause. Empty if the cause says it, or if one is in
 * progress.
 */
export function nextAttemptText(merchant: ListedMerchant, nowMs: number): string {
  const { runbook, lastFailure, renewing, renewalBlocked, retryAt } = merchant;
  const isSaid = runbook === SPENT || lastFailure === undefined;
  if (isSaid || renewing || renewalBlocked === true || retryAt === undefined) return '';
  const retryMs = Date.parse(retryAt);
  if (!(retryMs > nowMs)) return '';
  const at = momentText(instantFromEpochMs(retryMs), instantFromEpochMs(nowMs));
  // The line remains while attempts go on.
  return `; next attempt at ${at}${afterEndText(merchant)}, and again until one succeeds`;
}

/** What the bank's support asks for; undefined if the merchant is well, or if the gateway has not answered. */
export function supportId(merchant: ListedMerchant): string | undefined {
  return isWell(merchant) ? undefined : merchant.lastFailure?.gatewayRequestId;
}

export function supportText(merchant: ListedMerchant): string | undefined {
  const requestId = supportId(merchant);
  if (requestId === undefined) return undefined;
  return `For the bank's support: the last attempt for ${merchant.id} has the gatewayRequestId ${requestId}`;
}

const ofKind: Readonly<Record<string, ExitClass>> = {
  refused: 'refused',
  revoked: 'refused',
  invalid_response: 'invalidAnswer',
};

/** The page about a session in the store that no key of the replica opens. */
const UNOPENABLE = 'unopenable-records';

/** @param kind of a failed create call, which is the reason given for a renewal request that failed because of it */
export const classOfFailure = (kind: string | undefined): ExitClass => ofKind[kind ?? ''] ?? 'tryLater';

/** The page about a spent budget, whose causes say until when it is spent. */
const SPENT = 'budget-exhausted';

/** The kind of fault of a merchant that is not well; undefined if it is well. */
export function faultOf(merchant: ListedMerchant): ExitClass | undefined {
  if (isWell(merchant)) return undefined;
  if (merchant.runbook === UNOPENABLE) return 'invalidAnswer';
  return isMisaddressed(merchant) ? 'invalidInput' : classOfFailure(merchant.lastFailure?.kind);
}

/** Whether the address of its gateway is wrong, which no later call fixes. */
export const isMisaddressed = ({ lastFailure }: Pick<ListedMerchant, 'lastFailure'>): boolean =>
  lastFailure?.wrongAddress === true;

const SPAN_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** In its two largest units, such as `41m 3s`, rounded down so that nothing seems to have more time than it does. */
export function spanText(durationMs: number): string {
  const largest = SPAN_UNITS.findIndex(([, ms]) => durationMs >= ms);
  if (largest < 0) return '0s';
  let restMs = durationMs;
  const parts = SPAN_UNITS.slice(largest, largest + 2).map(([unit, ms]) => {
    const count = Math.floor(restMs / ms);
    restMs -= count * ms;
    return `${count}${unit}`;
  });
  return parts.join(' ');
}

/** How long the session is still valid by this machine's clock, or since when there is none. */
export function leftText({ expiresAt, state }: ListedMerchant, nowMs: number): string {
  if (expiresAt === undefined) return '-';
  if (state === 'unavailable')
    return `none since ${secondText(instantFromEpochMs(Date.parse(expiresAt)), instantFromEpochMs(nowMs))}`;
  return spanText(Math.max(0, Date.parse(expiresAt) - nowMs));
}

/** What comes next. After a failure, that is an attempt: the schedule counts from the next session. */
export function nextText(merchant: ListedMerchant, nowMs: number): string {
  const { renewing, renewalBlocked, retryAt, renewAt, state, lastFailure } = merchant;
  if (renewing) return 'creating one';
  if (renewalBlocked === true) return 'nothing is renewed';
  const retryInMs = retryAt === undefined ? 0 : Date.parse(retryAt) - nowMs;
  if (retryInMs > 0) return `attempt in ${spanText(retryInMs)}${afterEndText(merchant)}`;
  const renewInMs = renewAt === undefined ? 0 : Date.parse(renewAt) - nowMs;
  const isOnSchedule = (state === 'fresh' || state === 'foreign_authorizer') && lastFailure === undefined;
  return isOnSchedule && renewInMs > 0 ? `renewal in ${spanText(renewInMs)}` : 'attempt is due';
}

const afterEndText = (merchant: ListedMerchant): string =>
  endsBefore(merchant.retryAt, merchant) ? ' (after its end)' : '';

/** Whether its session will have ended by then. If it has ended already, the state says so. */
export function endsBefore(
  retryAt: string | undefined,
  { state, expiresAt }: Pick<ListedMerchant, 'state' | 'expiresAt'>,
): boolean {
  if (retryAt === undefined || expiresAt === undefined || state === 'unavailable') return false;
  return Date.parse(expiresAt) < Date.parse(retryAt);
}
