import { entryPointOf, type GatewayPlace, peerOf } from '#libs/gateway';
import { GatewayFailure, TLS_SPOKEN } from '#libs/session';
import { type Bounds, isTlsInstead } from './tls-instead.js';

type PlainEnd = Parameters<typeof isTlsInstead>[0];

/** For a failed call to an http address, says so if the port speaks TLS; any other failure is returned unchanged. */
export async function unlessTls(
  failure: GatewayFailure,
  gateway: GatewayPlace,
  bounds: Bounds,
): Promise<GatewayFailure> {
  if (failure.trace?.mark === TLS_SPOKEN) return failure;
  return (await tlsInstead(plainEndOf(failure), gateway, bounds)) ?? failure;
}

/** The failure of every call to an http address if TLS is spoken at its port; undefined if it is not. */
export async function tlsInstead(
  end: PlainEnd,
  gateway: GatewayPlace,
  { clock, signal }: Bounds,
): Promise<GatewayFailure | undefined> {
  const { proxy, baseUrl, timeoutMs: limitMs } = gateway;
  if ((proxy ?? baseUrl).protocol !== 'http:') return undefined;
  const entry = entryPointOf(gateway);
  if (!(await isTlsInstead(end, entry, { clock, signal, limitMs }))) return undefined;
  const detail = `TLS is spoken at the port of the ${entry.via}, and the address begins with http`;
  return new GatewayFailure({ kind: 'transient', detail, mark: TLS_SPOKEN, ...peerOf(entry) });
}

/** An answer with the gateway's own code does not come from a server that wants TLS. */
function plainEndOf({ kind, wasReached, httpStatus, trace, msgCode }: GatewayFailure): PlainEnd {
  if (httpStatus !== undefined && msgCode === undefined) return { httpStatus };
  const isBroken = kind === 'transient' || kind === 'invalid_response';
  return { isCutOff: isBroken && wasReached && httpStatus === undefined && trace?.mark !== undefined };
}
