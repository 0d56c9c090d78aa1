import { isIP } from 'node:net';
import { GatewayFailure } from '#libs/session';
import { COMMON_HEADERS } from './create-session-request.js';
import type { GatewayAnswer } from './gateway-answer.js';
import { callGateway, type CallTools } from './gateway-call.js';
import type { GatewayPlace } from './merchant-gateway.js';

/** Our address as a remote server saw it. */
export interface EchoedAddress {
  readonly address: string;
  readonly version: 4 | 6;
}

/** The longest textual form of an IPv6 address has 45 characters. */
const MAX_ADDRESS_BYTES = 64;

/**
 * Asks a server that answers with the caller's address as plain text, through the same proxy as the merchant's calls.
 * The server is not the bank's, so the gateway's private authorities and pins do not apply to it. Nor does the rule
 * that production is called over https only, since the server is told nothing.
 * @throws GatewayFailure with the echo server as its peer; `invalid_response`, which repeats nothing, for anything but
 * one IP address
 */
export async function echoedAddress(
  tools: CallTools,
  call: { readonly gateway: GatewayPlace; readonly url: URL; readonly signal: AbortSignal },
): Promise<EchoedAddress> {
  const { url, signal } = call;
  const gateway: GatewayPlace = {
    ...call.gateway,
    baseUrl: new URL(url.origin),
    environment: 'test',
    tls: { pins: [] },
  };
  const { 'accept-encoding': encoding, 'user-agent': agent } = COMMON_HEADERS;
  const headers = { accept: 'text/plain', 'accept-encoding': encoding, 'user-agent': agent };
  const request = { method: 'GET', origin: url.origin, path: `${url.pathname}${url.search}`, headers } as const;
  return addressIn(await callGateway(tools, { gateway, request, signal }));
}

function addressIn({ httpStatus, body }: GatewayAnswer): EchoedAddress {
  const isShort = body.kind === 'complete' && body.bytes.length <= MAX_ADDRESS_BYTES;
  const address = isShort ? new TextDecoder().decode(body.bytes).trim() : '';
  const version = httpStatus === 200 ? isIP(address) : 0;
  if ((version !== 4 && version !== 6) || address.includes('%')) {
    const detail = 'the answer is not one IP address as plain text';
    throw new GatewayFailure({ kind: 'invalid_response', detail, httpStatus });
  }
  return { address, version };
}
