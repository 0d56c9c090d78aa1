import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Clock, Deadline } from '#libs/clock';
import { type ClockSkew, GatewayFailure, measureSkew } from '#libs/session';
import { dateOf, isHtmlPage, isOurs } from './answer-reader.js';
import { COMMON_HEADERS, target } from './create-session-request.js';
import { type EntryPoint, entryPointOf, peerOf } from './entry-point.js';
import { callGateway, type CallTools } from './gateway-call.js';
import type { GatewayPlace } from './merchant-gateway.js';
import { networkFailure } from './network-failure.js';
import { trustOptions } from '#libs/outbound';

export interface Bounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

interface TimedBounds extends Bounds {
  readonly timeoutMs: number;
}

/** @returns its addresses. @throws GatewayFailure */
export async function lookUp(entry: EntryPoint): Promise<readonly string[]> {
  try {
    return (await lookup(entry.host, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw networkFailure(error, entry);
  }
}

/** Opens a TCP connection and ends it. @throws GatewayFailure */
export async function reach(entry: EntryPoint, bounds: TimedBounds): Promise<void> {
  const { host, port } = entry;
  await opened({ entry, socket: connect({ host, port }), event: 'connect', look: () => undefined }, bounds);
}

/**
 * Makes a TLS handshake as every call does, and sends nothing. Not possible behind a proxy, where the handshake is part
 * of a call.
 * @returns the version of TLS
 * @throws GatewayFailure `refused` for a certificate that is not trusted
 */
export async function shakeHands(gateway: GatewayPlace, bounds: Bounds): Promise<string> {
  const entry = entryPointOf(gateway);
  const { host, port } = entry;
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = connectTls({ host, port, ...servername, ...trustOptions(gateway.tls) });
  const look = (): string => socket.getProtocol() ?? 'unknown';
  return opened({ entry, socket, event: 'secureConnect', look }, { ...bounds, timeoutMs: gateway.timeoutMs });
}

export interface PlainAnswer {
  readonly httpStatus: number;
  /** An HTML page, such as a firewall, a proxy or a web site sends. */
  readonly isHtml: boolean;
  /** A broker or an egress of ours answered, and not the gateway. */
  readonly isOurs: boolean;
  /** Absent when the answer had no usable `Date`. */
  readonly skew?: ClockSkew;
}

/**
 * Sends the gateway a GET without a body, which creates nothing: any answer shows that HTTP gets through.
 * @param call with the address to ask; the base path if it is absent
 * @throws GatewayFailure
 */
export async function askPlainly(
  tools: CallTools,
  call: { readonly gateway: GatewayPlace; readonly signal: AbortSignal; readonly address?: URL },
): Promise<PlainAnswer> {
  const { gateway, signal, address } = call;
  const { accept, 'accept-encoding': encoding, 'user-agent': agent } = COMMON_HEADERS;
  const request = {
    method: 'GET',
    ...(address === undefined ? target(gateway.baseUrl, '/') : { origin: address.origin, path: address.pathname }),
    headers: { accept, 'accept-encoding': encoding, 'user-agent': agent },
  } as const;
  const answer = await callGateway(tools, { gateway, request, signal });
  const gatewayDate = dateOf(answer);
  const skew = gatewayDate === undefined ? undefined : measureSkew({ ...answer, gatewayDate });
  const { httpStatus } = answer;
  return { httpStatus, isHtml: isHtmlPage(answer), isOurs: isOurs(answer), ...(skew && { skew }) };
}

interface Opening<Seen> {
  readonly entry: EntryPoint;
  readonly socket: Socket;
  readonly event: 'connect' | 'secureConnect';
  readonly look: () => Seen;
}

/** What `look` returns once the event has fired. The socket is gone afterwards, whatever happened. */
export async function opened<Seen>({ entry, socket, event, look }: Opening<Seen>, bounds: TimedBounds): Promise<Seen> {
  const deadline = new Deadline(bounds.clock, bounds.timeoutMs, bounds.signal);
  try {
    return await new Promise<Seen>((resolve, reject) => {
      const end = (): void => reject(ended(deadline, entry, bounds.timeoutMs));
      socket.once(event, () => resolve(look()));
      socket.once('error', (error) => reject(networkFailure(error, entry)));
      if (deadline.signal.aborted) end();
      else deadline.signal.addEventListener('abort', end, { once: true });
    });
  } finally {
    deadline.close();
    socket.destroy();
  }
}

const ended = ({ expired }: Deadline, entry: EntryPoint, timeoutMs: number): GatewayFailure =>
  expired
    ? new GatewayFailure({ kind: 'timeout', detail: `no connection after ${timeoutMs} ms`, ...peerOf(entry) })
    : new GatewayFailure({ kind: 'aborted', detail: 'ended from outside' });
