import type { Clock } from '#libs/clock';
import { entryPointOf, type GatewayPlace, peerOf } from '#libs/gateway';
import { speaksTls } from '#libs/outbound';
import { GatewayFailure, TLS_SPOKEN } from '#libs/session';

interface Bounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * A failed call by an address with http, told as what it is where TLS is spoken at that port; any other failure as it was. Nothing but a
 * handshake is sent to find out.
 */
export async function unlessTls(
  failure: GatewayFailure,
  gateway: GatewayPlace,
  bounds: Bounds,
): Promise<GatewayFailure> {
  return isCutOff(failure) ? ((await tlsInstead(gateway, bounds)) ?? failure) : failure;
}

/** The failure of every call by an address with http where TLS is spoken at its port; undefined where none is. */
export async function tlsInstead(gateway: GatewayPlace, bounds: Bounds): Promise<GatewayFailure | undefined> {
  const { proxy, baseUrl, timeoutMs } = gateway;
  if ((proxy ?? baseUrl).protocol !== 'http:') return undefined;
  const entry = entryPointOf(gateway);
  if (!(await speaksTls(entry, { ...bounds, limitMs: timeoutMs }))) return undefined;
  const detail = `TLS is spoken at the port of the ${entry.via}, and the address begins with http`;
  return new GatewayFailure({ kind: 'transient', detail, mark: TLS_SPOKEN, ...peerOf(entry) });
}

/** What some servers answer to one who speaks no TLS to them; others hang up. */
export const BAD_REQUEST = 400;

/** There was a connection, and no answer of the gateway's own. */
function isCutOff({ kind, wasReached, httpStatus, trace, msgCode }: GatewayFailure): boolean {
  if (httpStatus === BAD_REQUEST) return msgCode === undefined;
  const isBroken = kind === 'transient' || kind === 'invalid_response';
  return isBroken && wasReached && httpStatus === undefined && trace?.mark !== undefined;
}
