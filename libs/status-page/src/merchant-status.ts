import type { Clock } from '#libs/clock';
import { type Cause, conditionOf, isOfOtherKey, type ServeVerdict, type Session } from '#libs/session';
import type { DeathReports } from './death-reports.js';
import { failureShown } from './gateway-health.js';
import type { StatusCause, StatusMerchant, StatusSession } from './status-document.js';
import type { StatusSource } from './status-source.js';

interface MerchantStatusParts {
  readonly source: StatusSource;
  readonly reports: DeathReports;
  readonly clock: Clock;
}

const LACKS_KEY = 'unopenable-records';

/** A merchant as the status page shows it. Built member by member: what is not named here cannot get out. */
export function merchantStatus({ source, reports, clock }: MerchantStatusParts, id: string): StatusMerchant {
  const { replica } = source;
  const configured = source.merchant(id);
  const session = replica.held.get(id);
  const failure = replica.failureOf(id);
  const retryInMs = replica.retryInMs(id);
  const { reason } = replica.reader.verdict(id);
  const cause = replica.causeFor(id);
  const quietMs = replica.quietMs(id);
  return {
    id,
    required: configured?.required === true,
    environment: configured?.environment ?? 'production',
    condition: conditionOf(replica, id),
    reason: servedReason(reason, replica.hasForeignAuthorizer(id)),
    cause: cause && causeShown(cause),
    ...keysOf(replica, id, cause),
    ...reports.of(id, session?.generation),
    quietSince: quietMs === undefined ? undefined : Math.round(clock.now() - quietMs),
    session: session && momentsOf(session),
    renewing: replica.isRenewing(id),
    retryAt: retryInMs === undefined ? undefined : Math.round(clock.now() + retryInMs),
    renewalBlocked: source.isRenewalBlocked(id),
    budgetSpent: replica.isBudgetSpent(id),
    failure: failure && failureShown(failure),
  };
}

/** While replicas have different keys, none of them should be compared with the bank's. */
function keysOf(
  replica: StatusSource['replica'],
  id: string,
  cause: Cause | undefined,
): Pick<StatusMerchant, 'ownKey' | 'keys'> {
  const failure = replica.failureOf(id);
  if (cause?.runbook === LACKS_KEY && replica.held.unopened(id) !== undefined) return { keys: 'lacking' };
  if (failure !== undefined && isOfOtherKey(failure)) return { keys: 'differing' };
  return { ownKey: failure?.trace?.thumbprint };
}

function causeShown({ text, runbook, inHeadline }: Cause): StatusCause {
  return { text, runbook, inHeadline };
}

function servedReason(reason: ServeVerdict['reason'], isDisputed: boolean): StatusMerchant['reason'] {
  return isDisputed && reason === 'current' ? 'foreign_authorizer' : reason;
}

function momentsOf({ generation, createdAt, renewAt, mustRenewAt, expiresAt }: Session): StatusSession {
  return { generation, createdAt, renewAt, mustRenewAt, expiresAt };
}
