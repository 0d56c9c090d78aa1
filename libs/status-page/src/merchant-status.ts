import type { Clock } from '#libs/clock';
import { type Cause, isOfOtherKey, type ServeVerdict, type Session } from '#libs/session';
import type { DeathReports } from './death-reports.js';
import { failureOf } from './gateway-health.js';
import type { RenewalHistory } from './renewal-history.js';
import type { StatusCause, StatusCondition, StatusMerchant, StatusSession } from './status-document.js';
import type { StatusSource } from './status-source.js';

export interface MerchantStatusParts {
  readonly replica: StatusSource['replica'];
  readonly history: RenewalHistory;
  readonly reports: DeathReports;
  readonly environmentOf: (merchant: string) => StatusMerchant['environment'];
  readonly isRequired: (merchant: string) => boolean;
  readonly isRenewalBlocked: (merchant: string) => boolean;
  readonly clock: Clock;
}

const LACKS_KEY = 'unopenable-records';

/** A merchant as the status page shows it. Built member by member: what is not named here cannot get out. */
export function merchantStatus(
  { replica, history, reports, environmentOf, isRequired, isRenewalBlocked, clock }: MerchantStatusParts,
  id: string,
  condition: StatusCondition,
): StatusMerchant {
  const session = replica.held.get(id);
  const failure = replica.failureOf(id);
  const retryInMs = replica.retryInMs(id);
  const { reason } = replica.reader.verdict(id);
  const cause = replica.causeFor(id);
  const quietMs = replica.quietMs(id);
  return {
    id,
    required: isRequired(id),
    environment: environmentOf(id),
    condition,
    reason: servedReason(reason, replica.hasForeignAuthorizer(id)),
    ...(cause === undefined ? {} : { cause: causeShown(cause) }),
    ...keysOf(replica, id, cause),
    ...reportsOf(reports, id, session),
    ...(quietMs === undefined ? {} : { quietSince: Math.round(clock.now() - quietMs) }),
    ...(session === undefined ? {} : { session: momentsOf(session) }),
    renewing: replica.isRenewing(id),
    ...(retryInMs === undefined ? {} : { retryAt: Math.round(clock.now() + retryInMs) }),
    renewalBlocked: isRenewalBlocked(id),
    budgetSpent: history.isBudgetSpent(id),
    ...(failure === undefined ? {} : { failure: failureOf(failure, failure.msgCode ?? failure.trace?.mark) }),
    renewals: history.of(id),
  };
}

/** While replicas have different keys, none of them should be compared with the bank's. */
function keysOf(
  replica: MerchantStatusParts['replica'],
  id: string,
  cause: Cause | undefined,
): Pick<StatusMerchant, 'ownKey' | 'keys'> {
  const failure = replica.failureOf(id);
  if (cause?.runbook === LACKS_KEY && replica.held.unopened(id) !== undefined) return { keys: 'lacking' };
  if (failure !== undefined && isOfOtherKey(failure)) return { keys: 'differing' };
  return failure?.trace?.thumbprint === undefined ? {} : { ownKey: failure.trace.thumbprint };
}

function causeShown({ text, runbook, inHeadline }: Cause): StatusCause {
  return { text, runbook, ...(inHeadline === undefined ? {} : { inHeadline }) };
}

function servedReason(reason: ServeVerdict['reason'], isDisputed: boolean): StatusMerchant['reason'] {
  return isDisputed && reason === 'current' ? 'foreign_authorizer' : reason;
}

function reportsOf(
  reports: DeathReports,
  id: string,
  session: Session | undefined,
): Pick<StatusMerchant, 'reportedBy' | 'reportedAs'> {
  const reportedBy = reports.consumersOf(id, session?.generation);
  const reportedAs = reports.reasonsOf(id, session?.generation);
  return {
    ...(reportedBy.length === 0 ? {} : { reportedBy }),
    ...(reportedAs.length === 0 ? {} : { reportedAs }),
  };
}

function momentsOf({ generation, createdAt, renewAt, mustRenewAt, expiresAt }: Session): StatusSession {
  return { generation, createdAt, renewAt, mustRenewAt, expiresAt };
}
