import { BrokerError } from '#libs/errors';
import { describeRedisError } from '../redis-failure.js';

/** `refused`: a person has to mend rights, passwords or certificates. `unreachable`: it may pass by itself. */
export type InspectionFailureKind = 'refused' | 'unreachable';

const REFUSALS =
  /^(NOAUTH|WRONGPASS|NOPERM|NOPROTO|DENIED|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|HOSTNAME_|INVALID_|PATH_LENGTH_)/;

/** A server of the store could not be looked at. */
export class StoreInspectionFailure extends BrokerError {
  readonly kind: InspectionFailureKind;

  constructor(place: string, error: unknown) {
    const reason = describeRedisError(error);
    super('store_unavailable', { detail: `${place}: ${reason}` });
    this.kind = REFUSALS.test(reason) ? 'refused' : 'unreachable';
  }
}
