import type { IncomingHttpHeaders } from 'node:http';
import type { CallRecord, Operation } from '../calls/call-log.js';
import type { Trouble } from '../faults/fault.js';
import type { PaymentClaim } from '../ledger/ledger.js';
import type { Merchant } from '../merchants/merchant.js';
import type { Answer } from '../wire/answer.js';
import { GatewayRefusal } from './refusal.js';

/** A request as an operation sees it. */
export interface GatewayRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: unknown;
  readonly body: unknown;
}

/** Whom a request concerns, as far as can be told before anything is checked. */
export interface Caller {
  readonly merchant?: Merchant;
  readonly serviceCode?: string;
  /** What the ledger records of the request; undefined if no payment is requested. */
  readonly payment?: PaymentClaim;
}

export interface Scene {
  readonly record: CallRecord;
  readonly trouble: Trouble | undefined;
  /** How far the clock that the gateway shows is ahead of the true one. */
  readonly skewMs: number;
}

export interface GatewayOperation {
  readonly name: Operation;
  readonly path: string;
  identify(request: GatewayRequest): Caller;
  /** @throws GatewayRefusal to answer with the gateway's error body */
  carryOut(request: GatewayRequest, scene: Scene): Answer | Promise<Answer>;
}

/**
 * `1` and, as observed, also `v1` and `V1` (interface description, section "Versions").
 * @throws GatewayRefusal `b_invalid_request`, also for none unless `whenAbsent` is a version
 */
export function demandApiVersion(request: GatewayRequest, whenAbsent = ''): void {
  if (!/^[vV]?1$/.test(headerOf(request, 'x-api_version') ?? whenAbsent)) {
    throw new GatewayRefusal('b_invalid_request', { msgText: 'The header x-api_version must be 1' });
  }
}

/** Observed clients also write a hyphen where the published names have an underscore. */
export function headerOf({ headers }: GatewayRequest, name: string): string | undefined {
  const value = headers[name] ?? headers[name.replace('_', '-')];
  return typeof value === 'string' ? value : undefined;
}

export function memberOf(body: unknown, name: string): unknown {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return undefined;
  return (body as Readonly<Record<string, unknown>>)[name];
}
