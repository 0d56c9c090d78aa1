import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EgressClient, EgressRoute } from '#libs/configuration';
import type { AliasSessions } from '../alias/alias-sessions.js';
import type { Form } from '../callers/callers.js';
import type { GatewayClient } from '../gateway/gateway-client.js';
import type { RequestTarget } from '../server/request-target.js';
import type { MerchantSession } from '../sessions/merchant-session.js';
import type { RequestRecord } from './request-record.js';

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
  /** Where it is noted what happens to it. */
  readonly record: RequestRecord;
}

/** What an exchange works with. */
export interface ExchangeParts {
  readonly session: MerchantSession;
  readonly gateway: GatewayClient;
  readonly alias: AliasSessions;
}
