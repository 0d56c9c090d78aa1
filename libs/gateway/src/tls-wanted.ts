import type { Clock } from '#libs/clock';
import { exchangeEndOf, speaksTls } from '#libs/outbound';
import { GatewayFailure, TLS_SPOKEN } from '#libs/session';
import { entryPointOf, peerOf } from './entry-point.js';
import type { GatewayAnswer } from './gateway-answer.js';
import type { GatewayPlace } from './merchant-gateway.js';

const BAD_REQUEST = 400;
/** What nginx says, in a page of its own, to a plain HTTP request on a TLS port. */
const NGINX_WORDS = /plain HTTP request was sent to HTTPS port/i;
const MAX_PAGE_BYTES = 1_024;
/** Whoever waits for the call also waits for this. */
const HANDSHAKE_LIMIT_MS = 1_000;

/**
 * The failure of a call to an http address if the answer says that TLS is spoken there; by itself, that answer looks
 * like a firewall's. Nothing of the page is in it. Undefined for any other answer; over TLS, the same page points to a
 * fault on the far side.
 */
export function tlsWanted({ httpStatus, body }: GatewayAnswer, { baseUrl }: GatewayPlace): GatewayFailure | undefined {
  if (baseUrl.protocol !== 'http:' || httpStatus !== BAD_REQUEST || body.kind !== 'complete') return undefined;
  if (!NGINX_WORDS.test(new TextDecoder().decode(body.bytes.subarray(0, MAX_PAGE_BYTES)))) return undefined;
  return wrongScheme(baseUrl);
}

interface Bounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The same for a call that broke off, which is how most servers end what is not TLS: they hang up without a word. A
 * handshake finds out, and nothing else is sent. Behind a proxy the port is not the gateway's, and for an https address
 * there is nothing to find out.
 */
export async function tlsSpoken(
  error: unknown,
  { baseUrl, proxy, timeoutMs }: GatewayPlace,
  { clock, signal }: Bounds,
): Promise<GatewayFailure | undefined> {
  const { kind, wasReached } = exchangeEndOf(error);
  const isCutOff = wasReached && (kind === 'broken_off' || kind === 'malformed');
  if (!isCutOff || proxy !== undefined || baseUrl.protocol !== 'http:') return undefined;
  const limitMs = Math.min(timeoutMs, HANDSHAKE_LIMIT_MS);
  return (await speaksTls(entryPointOf({ baseUrl }), { clock, signal, limitMs })) ? wrongScheme(baseUrl) : undefined;
}

function wrongScheme(baseUrl: URL): GatewayFailure {
  const detail = 'TLS is spoken at the port of the gateway, and the address begins with http';
  return new GatewayFailure({ kind: 'transient', detail, mark: TLS_SPOKEN, ...peerOf(entryPointOf({ baseUrl })) });
}
