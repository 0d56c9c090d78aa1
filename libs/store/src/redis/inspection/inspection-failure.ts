import { toldCall } from '#libs/causes';
import { BrokerError } from '#libs/errors';
import { isRefusedHandshake } from '../tls-alert.js';
import { isUntrusted, judgeRedisError, NO_DATABASE, NOT_REDIS } from '../redis-failure.js';

/**
 * `refused`: a person has to fix rights, passwords, certificates or the address. `unreachable`: it may resolve itself.
 */
type InspectionFailureKind = 'refused' | 'unreachable';

/** The mark of a port that accepts connections but does not speak TLS. */
export const NO_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';

/** A server of the store could not be inspected. */
export class StoreInspectionFailure extends BrokerError {
  readonly kind: InspectionFailureKind;
  /** The code of a reply or of the system, or a few words of ours: used to choose a remedy. */
  readonly mark: string;
  /** Host and port, if there are any, possibly followed by what was asked. */
  readonly place: string;

  constructor(place: string, error: unknown) {
    const { kind, reason } = judgeRedisError(error);
    const isPersons = kind === 'refused' || reason === NOT_REDIS;
    super(isPersons ? 'store_refused' : 'store_unavailable', { detail: detailOf(place, reason) });
    this.kind = isPersons ? 'refused' : 'unreachable';
    this.mark = reason;
    this.place = place;
  }
}

const said: Readonly<Record<string, (place: string) => string>> = {
  [NO_TLS]: (place) => `no TLS is spoken there, although the settings of the store ask for it (${place})`,
  [NOT_REDIS]: (place) => `what answers there is not Redis (${place})`,
  WRONGPASS: (place) => `the password is wrong, or the user (WRONGPASS from ${place})`,
  NOAUTH: (place) => `it wants a password, and none is configured (NOAUTH from ${place})`,
  DENIED: (place) => `it is in protected mode, which takes nobody from another machine (DENIED from ${place})`,
  MAXCLIENTS: (place) => `it has as many clients as it takes (MAXCLIENTS from ${place})`,
};

/** Uses the words of the gateway's failures if they say more than a code. */
function detailOf(place: string, reason: string): string {
  const own = said[reason]?.(place);
  if (own !== undefined) return own;
  if (NO_DATABASE.test(reason)) return `it has ${reason} (SELECT refused by ${place})`;
  if (isRefusedHandshake(reason)) return `${reason} (${place})`;
  const trace = { mark: reason, peer: place };
  if (isUntrusted(reason)) return toldCall({ kind: 'refused', trace }).text;
  return OF_THE_NETWORK.test(reason) ? toldCall({ kind: 'transient', trace }).text : `${place}: ${reason}`;
}

const OF_THE_NETWORK = /^(?:E(?:CONN|HOST|NET|NOTFOUND|AI_|TIMEDOUT|PIPE)[A-Z]*|EAI_AGAIN)$/;
