import { BrokerError } from '#libs/errors';
import { causeOf } from '#libs/session';
import { judgeRedisError } from '../redis-failure.js';

/** `refused`: a person has to mend rights, passwords or certificates. `unreachable`: it may pass by itself. */
type InspectionFailureKind = 'refused' | 'unreachable';

/** A server of the store could not be looked at. */
export class StoreInspectionFailure extends BrokerError {
  readonly kind: InspectionFailureKind;

  constructor(place: string, error: unknown) {
    const { kind, reason } = judgeRedisError(error);
    super(kind === 'refused' ? 'store_refused' : 'store_unavailable', { detail: detailOf(place, reason) });
    this.kind = kind === 'refused' ? 'refused' : 'unreachable';
  }
}

/** In the words of the gateway's failures, where those say more than a code. */
function detailOf(place: string, reason: string): string {
  return reason === 'ECONNREFUSED'
    ? causeOf({ kind: 'transient', trace: { mark: reason, peer: place } }).text
    : `${place}: ${reason}`;
}
