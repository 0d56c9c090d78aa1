import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EgressClient, EgressRoute } from '#libs/configuration';
import type { CallSpan } from '#libs/telemetry';
import type { AliasSessions } from '../alias/alias-sessions.js';
import type { Form } from '../callers/callers.js';
import type { GatewayClient } from '../gateway/gateway-client.js';
import type { RequestTarget } from '../server/request-target.js';
import type { MerchantSession } from '../sessions/merchant-session.js';

/** One request, once it is known who sent it and where it may go. */
export interface AdmittedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly client: EgressClient;
  readonly form: Form;
  readonly route: EgressRoute;
  readonly target: RequestTarget;
  /** As the client sent it, whole. */
  readonly body: Buffer;
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
  readonly trail: ExchangeTrail;
}

/** What is reported while a request is in progress, for metrics and the audit. */
export interface ExchangeTrail {
  /** It is about to be sent with this session. */
  sent(generation: number): void;
  repeated(): void;
  died(code: string): void;
  /** Its body seems to hold a card number in clear. */
  seemsToHoldCard(): void;
  /** One send begins, as part of the request's trace; undefined if no trace is recorded. */
  call(method: string): CallSpan | undefined;
}

/** What an exchange works with. */
export interface ExchangeParts {
  readonly session: MerchantSession;
  readonly gateway: GatewayClient;
  readonly alias: AliasSessions;
}
