import { BrokerError, type ErrorCode } from '#libs/errors';
import { checkedTrace, type FailureTrace } from './failure-trace.js';

/**
 * How a create-session call failed. `transient` and `timeout` go away by themselves; `refused` and `revoked` need a
 * person; `invalid_response` is an answer that is not a usable session; `key_unavailable` means that the merchant's
 * private key cannot be used, so that an answer could not be opened; `aborted` is our own doing.
 */
export type GatewayFailureKind =
  'transient' | 'timeout' | 'refused' | 'revoked' | 'invalid_response' | 'key_unavailable' | 'aborted';

/**
 * What came instead of an answer from the gateway, and therefore without a code of its own: a page of HTML, as sent by
 * a firewall or a proxy, or nothing at all.
 */
export type NoAnswerReason = 'html_page' | 'empty_answer';

const codeOf = {
  transient: 'gateway_transient',
  timeout: 'gateway_timeout',
  refused: 'gateway_refused',
  revoked: 'gateway_revoked',
  invalid_response: 'gateway_invalid_response',
  key_unavailable: 'client_key_unavailable',
  aborted: 'shutting_down',
} as const satisfies Record<GatewayFailureKind, ErrorCode>;

/** The kinds that replicas tell each other about: a call that one of them aborts concerns nobody else. */
export type SharedFailureKind = Exclude<GatewayFailureKind, 'aborted'>;

export const gatewayFailureKinds = Object.keys(codeOf) as readonly GatewayFailureKind[];
export const sharedFailureKinds = gatewayFailureKinds.filter((kind): kind is SharedFailureKind => kind !== 'aborted');

export interface GatewayFailureFacts extends FailureTrace {
  readonly kind: GatewayFailureKind;
  /** What happened, for the log: constant text and numbers, nothing the gateway sent except what is named below. */
  readonly detail: string;
  /** The gateway's own code, e.g. `b_server_is_overloaded`; already reduced to a safe character set and length. */
  readonly msgCode?: string;
  readonly instead?: NoAnswerReason;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  /** False if there was not even a connection, and so no call. If absent, a call may have been made. */
  readonly wasReached?: boolean;
  readonly cause?: unknown;
}

/** A failed create-session call, classified as the interface description requires (section "Errors"). */
export class GatewayFailure extends BrokerError {
  readonly kind: GatewayFailureKind;
  readonly msgCode: string | undefined;
  readonly instead: NoAnswerReason | undefined;
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  readonly wasReached: boolean;
  /** What is known about it beyond kind and code, in a form that anybody may be shown. */
  readonly trace: FailureTrace | undefined;

  constructor(facts: GatewayFailureFacts) {
    super(codeOf[facts.kind], {
      detail: facts.detail,
      cause: facts.cause,
      ...(facts.retryAfterMs === undefined ? {} : { retryAfterMs: facts.retryAfterMs }),
    });
    this.kind = facts.kind;
    this.msgCode = facts.msgCode;
    this.instead = facts.instead;
    this.httpStatus = facts.httpStatus;
    this.requestId = facts.requestId;
    this.wasReached = facts.wasReached ?? true;
    this.trace = checkedTrace(facts);
  }

  /** The gateway's own code, or what came instead of an answer. */
  get shownCode(): string | undefined {
    return this.msgCode ?? this.instead;
  }
}
