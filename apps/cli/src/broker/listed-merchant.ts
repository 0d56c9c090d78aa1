import { instantFromEpochMs } from '#libs/clock';
import { conditionColours, conditionWord, merchantConditions, momentText, secondText } from '#libs/session';
import type { ExitClass } from '../exit-codes.js';

/** A merchant as `GET /v1/merchants` lists it, as far as it is shown. */
export interface ListedMerchant {
  readonly id: string;
  readonly state: string;
  /** Brokers of 0.1 have none. */
  readonly condition?: string;
  readonly reason: string;
  readonly renewing: boolean;
  /** The store is away, and nobody may go on without it. Brokers of 0.1 have none. */
  readonly renewalBlocked?: boolean;
  readonly generation?: number;
  readonly expiresAt?: string;
  readonly renewAt?: string;
  readonly retryAt?: string;
  /** Somebody else created its sessions not long ago, and may still: since when no consumer has reported a dead one to the replica. */
  readonly quietSince?: string;
  readonly cause?: string;
  readonly runbook?: string;
  readonly lastFailure?: {
    readonly kind: string;
    readonly msgCode?: string;
    /** Brokers of 0.1 have none. */
    readonly gatewayRequestId?: string;
    /** Brokers of 0.1 never say so. */
    readonly wrongAddress?: boolean;
    readonly at: string;
  };
}

export type Tone = (typeof conditionColours)[keyof typeof conditionColours];

interface ShownCondition {
  readonly word: string;
  readonly tone: Tone;
}

/** In the words of the status page. One that looks well is shown in yellow where there is more to say of it. */
export function shownCondition(merchant: ListedMerchant): ShownCondition {
  const { word, tone } = conditionShown(merchant);
  return { word, tone: tone === 'green' && merchant.quietSince !== undefined ? 'yellow' : tone };
}

/** Whether nothing is known to be wrong with it. */
export function isWell(merchant: ListedMerchant): boolean {
  const { tone } = conditionShown(merchant);
  return tone === 'green' || tone === 'blue';
}

/** A condition that this version does not know is shown as it came. */
function conditionShown({ state, reason, condition = state }: ListedMerchant): ShownCondition {
  const known = merchantConditions.find((one) => one === condition);
  if (known === undefined) return { word: condition.replaceAll('_', ' '), tone: 'yellow' };
  return { word: conditionWord(known, reason === 'expired' ? reason : undefined), tone: conditionColours[known] };
}

/** What is the matter with a merchant, and where to read on; undefined where nothing is known to be. */
export function causeText({ cause, runbook = '-' }: Pick<ListedMerchant, 'cause' | 'runbook'>): string | undefined {
  return cause === undefined ? undefined : `${cause} (runbook: ${runbook})`;
}

/** To follow a cause: when the next attempt comes after a failed one. Nothing where the cause says it, or one is being made. */
export function nextAttemptText(merchant: ListedMerchant, nowMs: number): string {
  const { runbook, lastFailure, renewing, renewalBlocked, retryAt } = merchant;
  const isSaid = runbook === SPENT || lastFailure === undefined;
  if (isSaid || renewing || renewalBlocked === true || retryAt === undefined) return '';
  const retryMs = Date.parse(retryAt);
  if (!(retryMs > nowMs)) return '';
  const at = momentText(instantFromEpochMs(retryMs), instantFromEpochMs(nowMs));
  // The line stays while attempts go on.
  return `; next attempt at ${at}${afterEndText(merchant)}, and again until one succeeds`;
}

/** What the bank's support asks for; undefined for a merchant that is well, and where the gateway has answered nothing. */
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

/** The page about a session in the store that opens with no key of the replica. */
const UNOPENABLE = 'unopenable-records';

/** @param kind of a failed create call, which is the reason of a wish that came to nothing by it */
export const classOfFailure = (kind: string | undefined): ExitClass => ofKind[kind ?? ''] ?? 'tryLater';

/** The page about a budget, whose causes say until when it is spent. */
const SPENT = 'budget-exhausted';

/** What kind of fault a merchant that is not well has; undefined for one that is. */
export function faultOf(merchant: ListedMerchant): ExitClass | undefined {
  if (isWell(merchant)) return undefined;
  if (merchant.runbook === UNOPENABLE) return 'invalidAnswer';
  return isMisaddressed(merchant) ? 'invalidInput' : classOfFailure(merchant.lastFailure?.kind);
}

/** Whether the address of its gateway is what is wrong, which no later call mends. */
export const isMisaddressed = ({ lastFailure }: Pick<ListedMerchant, 'lastFailure'>): boolean =>
  lastFailure?.wrongAddress === true;

const SPAN_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** In its two largest units, rounded down, so that nothing is said to have more time than it has: `41m 3s`. */
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

/** How long the session is good for, by the clock of this machine, or since when there is none. */
export function leftText({ expiresAt, state }: ListedMerchant, nowMs: number): string {
  if (expiresAt === undefined) return '-';
  if (state === 'unavailable')
    return `none since ${secondText(instantFromEpochMs(Date.parse(expiresAt)), instantFromEpochMs(nowMs))}`;
  return spanText(Math.max(0, Date.parse(expiresAt) - nowMs));
}

/** What comes next. After a failure that is an attempt: the schedule counts from the next session. */
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

/** Whether its session has ended by then. Of one that has ended already its state says so. */
export function endsBefore(
  retryAt: string | undefined,
  { state, expiresAt }: Pick<ListedMerchant, 'state' | 'expiresAt'>,
): boolean {
  if (retryAt === undefined || expiresAt === undefined || state === 'unavailable') return false;
  return Date.parse(expiresAt) < Date.parse(retryAt);
}
