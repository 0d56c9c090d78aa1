import { BrokerError } from '#libs/errors';
import type { Lease, Session } from '#libs/session';

/**
 * A generation is a whole number above 0, since anything else in the store would be newer than everything; and it is
 * the fence of the lease, if the session was made under one. Anything else is a bug of ours.
 * @throws BrokerError `internal_error`
 */
export function assertPublishable({ merchant, generation }: Session, lease: Lease | undefined): void {
  if (!Number.isSafeInteger(generation) || generation <= 0) {
    throw new BrokerError('internal_error', { detail: 'the generation of a session is a whole number above 0' });
  }
  if (lease === undefined || (merchant === lease.merchant && generation === lease.fence)) return;
  throw new BrokerError('internal_error', {
    detail: 'a session can only be published under the lease of its own merchant and generation',
  });
}
