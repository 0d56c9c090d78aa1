import { told } from '#libs/causes';
import type { Clock } from '#libs/clock';
import type { ServeVerdict, Session } from '#libs/session';
import { failureShown } from './gateway-health.js';
import type { StatusMerchant, StatusSession } from './status-document.js';
import type { StatusSource } from './status-source.js';

interface MerchantStatusParts {
  readonly source: StatusSource;
  readonly clock: Clock;
}

/** A merchant as the status page shows it. Built member by member: what is not named here cannot get out. */
export function merchantStatus({ source, clock }: MerchantStatusParts, id: string): StatusMerchant {
  const { replica } = source;
  const configured = source.merchant(id);
  const session = replica.held.get(id);
  const failure = replica.failureOf(id);
  const retryInMs = replica.retryInMs(id);
  const { reason } = replica.wishes.verdict(id);
  const cause = replica.causeFor(id);
  return {
    id,
    required: configured?.required === true,
    environment: configured?.environment ?? 'production',
    condition: replica.conditionOf(id),
    reason: servedReason(reason, replica.hasForeignAuthorizer(id)),
    cause: cause && told(cause, id),
    session: session && momentsOf(session),
    renewing: replica.isRenewing(id),
    retryAt: retryInMs === undefined ? undefined : Math.round(clock.now() + retryInMs),
    renewalBlocked: source.isRenewalBlocked(id),
    failure: failure && failureShown(failure),
  };
}

function servedReason(reason: ServeVerdict['reason'], isDisputed: boolean): StatusMerchant['reason'] {
  return isDisputed && reason === 'current' ? 'foreign_authorizer' : reason;
}

function momentsOf({ generation, createdAt, renewAt, mustRenewAt, expiresAt }: Session): StatusSession {
  return { generation, createdAt, renewAt, mustRenewAt, expiresAt };
}
