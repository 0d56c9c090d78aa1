import type { Clock } from '#libs/clock';
import { type UnavailableReason, unavailableReasons } from '#libs/errors';
import type { Session, SessionReplica } from '#libs/session';
import { failureOf } from './gateway-health.js';
import type { RenewalHistory } from './renewal-history.js';
import type { StatusCondition, StatusMerchant, StatusSession } from './status-document.js';

export interface MerchantStatusParts {
  readonly replica: Pick<
    SessionReplica,
    'held' | 'failures' | 'reader' | 'isRenewing' | 'retryInMs' | 'hasForeignAuthorizer' | 'whyUnavailable'
  >;
  readonly history: RenewalHistory;
  readonly environmentOf: (merchant: string) => StatusMerchant['environment'];
  readonly isRequired: (merchant: string) => boolean;
  readonly clock: Clock;
}

/** A merchant as the status page shows it. Built member by member: what is not named here cannot get out. */
export function merchantStatus(
  { replica, history, environmentOf, isRequired, clock }: MerchantStatusParts,
  id: string,
  condition: StatusCondition,
): StatusMerchant {
  const session = replica.held.get(id);
  const failure = replica.failures.get(id);
  const retryInMs = replica.retryInMs(id);
  const { result, reason } = replica.reader.verdict(id);
  return {
    id,
    required: isRequired(id),
    environment: environmentOf(id),
    condition,
    reason: condition === 'foreign_authorizer' ? condition : reason,
    ...(result === 'unavailable' ? { unavailable: whyNot(replica.whyUnavailable(id)) } : {}),
    ...(session === undefined ? {} : { session: momentsOf(session) }),
    renewing: replica.isRenewing(id),
    ...(retryInMs === undefined ? {} : { retryAt: Math.round(clock.now() + retryInMs) }),
    budgetSpent: history.isBudgetSpent(id),
    ...(failure === undefined ? {} : { failure: failureOf(failure, failure.msgCode) }),
    renewals: history.of(id),
  };
}

function whyNot(because: UnavailableReason): NonNullable<StatusMerchant['unavailable']> {
  const { page, runbook } = unavailableReasons[because];
  return { text: page, runbook };
}

function momentsOf({ generation, createdAt, renewAt, mustRenewAt, expiresAt }: Session): StatusSession {
  return { generation, createdAt, renewAt, mustRenewAt, expiresAt };
}
