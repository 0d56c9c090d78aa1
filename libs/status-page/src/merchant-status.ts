import { told } from '#libs/causes';
import type { Clock } from '#libs/clock';
import type { ServeVerdict, Session } from '#libs/session';
import { failureOf } from './gateway-health.js';
import type { RenewalHistory } from './renewal-history.js';
import type { StatusCondition, StatusMerchant, StatusSession } from './status-document.js';
import type { StatusSource } from './status-source.js';

export interface MerchantStatusParts {
  readonly replica: StatusSource['replica'];
  readonly history: RenewalHistory;
  readonly environmentOf: (merchant: string) => StatusMerchant['environment'];
  readonly isRequired: (merchant: string) => boolean;
  readonly isRenewalBlocked: (merchant: string) => boolean;
  readonly clock: Clock;
}

/** A merchant as the status page shows it. Built member by member: what is not named here cannot get out. */
export function merchantStatus(
  { replica, history, environmentOf, isRequired, isRenewalBlocked, clock }: MerchantStatusParts,
  id: string,
  condition: StatusCondition,
): StatusMerchant {
  const session = replica.held.get(id);
  const failure = replica.failureOf(id);
  const retryInMs = replica.retryInMs(id);
  const { reason } = replica.reader.verdict(id);
  const cause = replica.causeFor(id);
  return {
    id,
    required: isRequired(id),
    environment: environmentOf(id),
    condition,
    reason: servedReason(reason, replica.hasForeignAuthorizer(id)),
    ...(cause === undefined ? {} : { cause: told(cause, id) }),
    ...(session === undefined ? {} : { session: momentsOf(session) }),
    renewing: replica.isRenewing(id),
    ...(retryInMs === undefined ? {} : { retryAt: Math.round(clock.now() + retryInMs) }),
    renewalBlocked: isRenewalBlocked(id),
    budgetSpent: history.isBudgetSpent(id),
    ...(failure === undefined ? {} : { failure: failureOf(failure, failure.msgCode ?? failure.trace?.mark) }),
    renewals: history.of(id),
  };
}

function servedReason(reason: ServeVerdict['reason'], isDisputed: boolean): StatusMerchant['reason'] {
  return isDisputed && reason === 'current' ? 'foreign_authorizer' : reason;
}

function momentsOf({ generation, createdAt, renewAt, mustRenewAt, expiresAt }: Session): StatusSession {
  return { generation, createdAt, renewAt, mustRenewAt, expiresAt };
}
