import { type Clock, Deadline } from '#libs/clock';
import { GatewayFailure } from '#libs/session';
import { entryPointOf, peerOf } from './entry-point.js';
import type { GatewayAnswer } from './gateway-answer.js';
import type { GatewayConnections } from './gateway-connections.js';
import { exchange, type GatewayRequest } from './http-exchange.js';
import type { GatewayPlace } from './merchant-gateway.js';
import { networkFailure } from './network-failure.js';
import { tlsSpoken, tlsWanted } from './tls-wanted.js';

export interface CallTools {
  readonly connections: GatewayConnections;
  readonly clock: Clock;
}

export interface GatewayCall {
  readonly gateway: GatewayPlace;
  readonly request: GatewayRequest;
  /** Ends the call early; the call's own deadline applies as well. */
  readonly signal: AbortSignal;
}

/**
 * Makes one call under one deadline, from connecting to the last byte of the body. Nothing is ever sent twice.
 * @throws GatewayFailure for everything that ends it without an answer
 */
export async function callGateway({ connections, clock }: CallTools, call: GatewayCall): Promise<GatewayAnswer> {
  const { gateway, request, signal } = call;
  assertProtected(gateway, request);
  const deadline = new Deadline(clock, gateway.timeoutMs, signal);
  try {
    const dispatcher = connections.dispatcherFor(gateway);
    const answer = await exchange(request, {
      dispatcher,
      clock,
      signal: deadline.signal,
      timeoutMs: gateway.timeoutMs,
    });
    const failure = tlsWanted(answer, gateway);
    if (failure !== undefined) throw failure;
    return answer;
  } catch (error) {
    if (error instanceof GatewayFailure) throw error;
    if (deadline.signal.aborted) throw endedBy(deadline, gateway);
    const failure = await tlsSpoken(error, gateway, { clock, signal: deadline.signal });
    throw failure ?? networkFailure(error, entryPointOf(gateway), entryPointOf({ baseUrl: gateway.baseUrl }));
  } finally {
    deadline.close();
  }
}

function endedBy(deadline: Deadline, gateway: GatewayPlace): GatewayFailure {
  const detail = `the call was not complete after ${gateway.timeoutMs} ms`;
  return deadline.expired
    ? new GatewayFailure({ kind: 'timeout', detail, ...peerOf(entryPointOf(gateway)) })
    : new GatewayFailure({ kind: 'aborted', detail: 'the call was ended from outside' });
}

/** The configuration already refuses this; a slip there must still not send anything in clear text or unpinned. */
function assertProtected(gateway: GatewayPlace, request: GatewayRequest): void {
  if (request.origin.startsWith('https:')) return;
  if (gateway.environment === 'production' || gateway.tls.pins.length > 0) {
    throw new GatewayFailure({ kind: 'refused', detail: 'production and pinned gateways are called over https only' });
  }
}
