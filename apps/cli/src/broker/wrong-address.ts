import { ProtocolError, type SessionBrokerError } from '#libs/client';
import type { ReplicaAnswer } from './replica-call.js';

/** Marks a problem as a broker's own. */
const PROBLEM_TYPE = 'urn:session-broker:problem:';
/** What a broker says if the request is not part of its API: at its management port, or with an extra path. */
const NO_ROUTE: ReadonlySet<unknown> = new Set(['route_not_found', 'method_not_allowed']);
/** What a proxy in front of a broker may also say when the address is right. */
const ALSO_OF_A_PROXY: ReadonlySet<number> = new Set([401, 403, 407, 408, 425, 429]);

/**
 * Whether an answer other than the wanted one shows that there is no broker API at the address, which no later call
 * fixes.
 */
export function isWrongAddress({ status, body: { type, code } }: ReplicaAnswer): boolean {
  if (typeof type === 'string' && type.startsWith(PROBLEM_TYPE)) return NO_ROUTE.has(code);
  return status < 500 && !ALSO_OF_A_PROXY.has(status);
}

/** What the client package says about a URL that it cannot use: all other options that it gets here are ours. */
const URL_REFUSED = 'option_invalid';

/** The same, as the client package reports it. */
export const showsWrongAddress = (error: SessionBrokerError): boolean =>
  error instanceof ProtocolError || error.code === URL_REFUSED || NO_ROUTE.has(error.code);
