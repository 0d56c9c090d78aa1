import { BrokerError } from '#libs/errors';
import type { Lease, Session } from '#libs/session';

/**
 * The fence is the generation, and even: publishing a session of another merchant or generation under this lease, or
 * one that was made without a lease, is a bug of ours. A session made without a lease can only be offered.
 * @throws BrokerError `internal_error`
 */
export function assertPublishable(lease: Lease, session: Session): void {
  assertOfferable(session);
  const isOfLease = session.merchant === lease.merchant && session.generation === lease.fence;
  if (isOfLease && session.generation % 2 === 0) return;
  throw new BrokerError('internal_error', {
    detail: 'a session can only be published under the lease of its own merchant and generation, which is even',
  });
}

/**
 * Odd or even, a generation is a whole number above 0: anything else in the store would be newer than everything.
 * @throws BrokerError `internal_error`
 */
export function assertOfferable({ generation }: Session): void {
  if (Number.isSafeInteger(generation) && generation > 0) return;
  throw new BrokerError('internal_error', { detail: 'the generation of a session is a whole number above 0' });
}
