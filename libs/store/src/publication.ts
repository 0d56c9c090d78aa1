import { BrokerError } from '#libs/errors';
import type { Lease, Session } from '#libs/session';

/**
 * The fence is the generation: a session of another merchant or generation under this lease is our own mistake.
 * @throws BrokerError `internal_error`
 */
export function assertPublishable(lease: Lease, session: Session): void {
  if (session.merchant === lease.merchant && session.generation === lease.fence) return;
  throw new BrokerError('internal_error', {
    detail: 'a session can only be published under the lease of its own merchant and generation',
  });
}
