import { BrokerError, type ErrorCode } from '#libs/errors';

/** Our own marks: an exchange without TLS broke off, but a TLS handshake with the same port did not; … */
export const TLS_SPOKEN = 'ERR_BROKER_TLS_SPOKEN';
/** … and a complete session arrived that had already expired. */
export const PAST_EXPIRY = 'ERR_BROKER_PAST_EXPIRY';

/** What is known about a failed call beyond its kind and the gateway's code. All of it may be shown to anybody. */
export interface FailureTrace {
  /** The code of the operating system, of TLS or of the HTTP client, such as `ECONNREFUSED`. */
  readonly mark?: string;
  /** Host and port that could not be used. */
  readonly peer?: string;
  /** The peer is the proxy on the way to the gateway. */
  readonly viaProxy?: true;
  readonly httpStatus?: number;
  /** The gateway's id for the call: what the bank's support asks for. */
  readonly requestId?: string;
  /** RFC 7638, of our newest client key: neither it nor an older one opened the answer. */
  readonly thumbprint?: string;
  /** The gateway's code is neither observed nor published, and nothing else showed what it means. */
  readonly unknownCode?: true;
  /** The gateway has made a session, by this call or by one since our last session, but none that is of use to us. */
  readonly lostSession?: true;
}

type Rule = (value: unknown) => boolean;
const text =
  (pattern: RegExp): Rule =>
  (value) =>
    typeof value === 'string' && pattern.test(value);

const MIN_STATUS = 100;
const MAX_STATUS = 599;

const rules: Readonly<Record<keyof FailureTrace, Rule>> = {
  mark: text(/^[A-Za-z]\w{0,63}$/),
  peer: text(/^[A-Za-z0-9.:[\]_-]{1,260}$/),
  viaProxy: (value) => value === true,
  httpStatus: (value) => Number.isInteger(value) && Number(value) >= MIN_STATUS && Number(value) <= MAX_STATUS,
  requestId: text(/^[\w.-]{1,64}$/),
  thumbprint: text(/^[\w-]{43}$/),
  unknownCode: (value) => value === true,
  lostSession: (value) => value === true,
};

/**
 * What may be shown of it, no matter who wrote it: each member by its own rule, and no others. Undefined if nothing is
 * left.
 */
export function checkedTrace(value: unknown): FailureTrace | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const given = value as Readonly<Record<string, unknown>>;
  const kept = Object.entries(rules).flatMap(([name, rule]) => (rule(given[name]) ? [[name, given[name]]] : []));
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as FailureTrace);
}

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

export const sharedFailureKinds = Object.keys(codeOf).filter((kind): kind is SharedFailureKind => kind !== 'aborted');

export interface GatewayFailureFacts extends FailureTrace {
  readonly kind: GatewayFailureKind;
  /** What happened, for the log: constant text and numbers, nothing the gateway sent except what is named below. */
  readonly detail: string;
  /** The gateway's own code, e.g. `b_server_is_overloaded`; already reduced to a safe character set and length. */
  readonly msgCode?: string;
  readonly instead?: NoAnswerReason;
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
