import { BrokerError, type ErrorCode } from '#libs/errors';

/**
 * How a create-session call failed. `transient` and `timeout` pass by themselves; `refused` and `revoked` want a
 * person; `invalid_response` is an answer that is not a usable session; `aborted` is our own doing.
 */
export type GatewayFailureKind = 'transient' | 'timeout' | 'refused' | 'revoked' | 'invalid_response' | 'aborted';

/**
 * What came in place of an answer of the gateway, which therefore has no code of its own: a page of HTML, as a firewall or
 * a proxy sends it, or nothing at all.
 */
export type NoAnswerReason = 'html_page' | 'empty_answer';

const codeOf = {
  transient: 'gateway_transient',
  timeout: 'gateway_timeout',
  refused: 'gateway_refused',
  revoked: 'gateway_revoked',
  invalid_response: 'gateway_invalid_response',
  aborted: 'shutting_down',
} as const satisfies Record<GatewayFailureKind, ErrorCode>;

export interface GatewayFailureFacts {
  readonly kind: GatewayFailureKind;
  /** What happened, for the log: constant text and numbers, nothing the gateway sent except what is named below. */
  readonly detail: string;
  /** The gateway's own code, e.g. `b_server_is_overloaded`; already reduced to a safe character set and length. */
  readonly msgCode?: string;
  readonly reason?: NoAnswerReason;
  readonly httpStatus?: number;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  /** False when not even a connection came about: then no call was made. Left out: one may have been. */
  readonly wasReached?: boolean;
  readonly cause?: unknown;
}

/** A failed create-session call, classified as the interface description demands (section "Errors"). */
export class GatewayFailure extends BrokerError {
  readonly kind: GatewayFailureKind;
  readonly msgCode: string | undefined;
  readonly reason: NoAnswerReason | undefined;
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  readonly wasReached: boolean;

  constructor(facts: GatewayFailureFacts) {
    super(codeOf[facts.kind], {
      detail: facts.detail,
      cause: facts.cause,
      ...(facts.retryAfterMs === undefined ? {} : { retryAfterMs: facts.retryAfterMs }),
    });
    this.kind = facts.kind;
    this.msgCode = facts.msgCode;
    this.reason = facts.reason;
    this.httpStatus = facts.httpStatus;
    this.requestId = facts.requestId;
    this.wasReached = facts.wasReached ?? true;
  }

  /** The gateway's own code, or in its place what came instead of an answer. */
  get shownCode(): string | undefined {
    return this.msgCode ?? this.reason;
  }
}
