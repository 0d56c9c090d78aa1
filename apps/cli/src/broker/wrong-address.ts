import { ProtocolError, type SessionBrokerError } from '#libs/client';
import type { ReplicaAnswer } from './replica-call.js';

/** By which a problem is known to be a broker's own. */
const PROBLEM_TYPE = 'urn:session-broker:problem:';
/** What a broker says where what is asked is none of its API: at its management port, and below a path too many. */
const NO_ROUTE: ReadonlySet<unknown> = new Set(['route_not_found', 'method_not_allowed']);
/** What a proxy in front of a broker says, too, while the address is right. */
const ALSO_OF_A_PROXY: ReadonlySet<number> = new Set([401, 403, 407, 408, 425, 429]);

/** Whether an answer that is not the wanted one shows that no API of a broker is at the address, which no later call mends. */
export function isWrongAddress({ status, body: { type, code } }: ReplicaAnswer): boolean {
  if (typeof type === 'string' && type.startsWith(PROBLEM_TYPE)) return NO_ROUTE.has(code);
  return status < 500 && !ALSO_OF_A_PROXY.has(status);
}

/** What the client package says of a URL that it cannot begin with: the other options that it gets here are ours. */
const URL_REFUSED = 'option_invalid';

/** The same, as the client package tells it. */
export const showsWrongAddress = (error: SessionBrokerError): boolean =>
  error instanceof ProtocolError || error.code === URL_REFUSED || NO_ROUTE.has(error.code);
