/** A session that the gateway did not accept: its generation, and the gateway's code, or `http_401` if it gave none. */
export interface Rejection {
  readonly generation: number;
  readonly reason: string;
}

/** Shared by all copies of this package in a process: one of its two module formats may see errors of the other. */
const KINDS = Symbol.for('@session-broker/client/error-kinds');

/**
 * The base of every error that this package makes. `code` is stable: it is the broker's own code if the broker answered
 * with one. No token, key, JWE or plaintext is ever in the message or in any member.
 */
export abstract class SessionBrokerError extends Error {
  /** Stable: the broker's own code, `http_` with a status, or this package's own. docs/reference/errors.md explains each. */
  readonly code: string;
  /** HTTP status of the broker's answer, when there was one; of GatewayRefused, of the gateway's. */
  readonly status: number | undefined;
  /** When to try again, in milliseconds from the time of the error, if the broker said so. */
  readonly retryAfterMs: number | undefined;
  /** Identifies the request in the broker's log. */
  readonly requestId: string | undefined;
  /** What is wrong, in the broker's own human-readable sentence, if it knows. */
  readonly brokerCause: string | undefined;
  /** A request was sent and refused with its session, so the bank has not carried it out; no newer session came. */
  readonly rejection: Rejection | undefined;

  /** Its name, which stays the same when a bundler shortens that of the class. */
  static readonly kind: string = 'SessionBrokerError';

  /** Also recognizes errors from another copy of this package. */
  static override [Symbol.hasInstance](this: { readonly kind: string }, value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return false;
    const kinds: unknown = (value as Readonly<Record<symbol, unknown>>)[KINDS];
    return Array.isArray(kinds) && kinds.includes(this.kind);
  }

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    const { kind } = new.target;
    Object.defineProperty(this, KINDS, { value: [kind, SessionBrokerError.kind], enumerable: false });
    Object.defineProperty(this, 'name', { value: kind, enumerable: false, configurable: true, writable: true });
    this.code = code;
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.requestId = facts.requestId;
    this.brokerCause = facts.brokerCause;
    this.rejection = facts.rejection;
  }

  /** For logs: JSON drops an error's message. Only causes from this package are known to hold no secret. */
  toJSON(): object {
    const { name, message, cause } = this;
    return { ...this, name, message, ...(cause instanceof SessionBrokerError ? { cause } : {}) };
  }
}

type Told = 'status' | 'retryAfterMs' | 'requestId' | 'brokerCause' | 'rejection';
export type ErrorFacts = Partial<Pick<SessionBrokerError, Told>> & { readonly cause?: unknown };

/** Which broker was asked, and for which merchant: a service may have several of both. */
export interface Place {
  readonly brokerUrl: string;
  readonly merchant: string;
}

/**
 * The same error, for a caller that had already sent a request: without this, a request whose session was refused looks
 * like one that was never sent. The cause is that refusal; several callers may share the original error.
 */
export function afterRejection(error: unknown, rejection: Rejection, cause: unknown): unknown {
  const { reason } = rejection;
  const sent = `. A request was sent before: the gateway refused it with its session (${reason})${meaningOf(reason)}`;
  return remade(error, sent, { rejection, cause });
}

/** The same error with a message that says which broker was asked, and for which merchant. */
export function placed<Failure>(error: Failure, place: Place): Failure {
  return error instanceof ClientClosed || error instanceof CallAborted ? error : remade(error, nameOf(place));
}

const nameOf = ({ brokerUrl, merchant }: Place): string => ` (${brokerUrl}, merchant "${merchant}")`;

/** The same error, for a caller that never got to send its request. */
export const notSent = (error: unknown): unknown => remade(error, '. This call has sent nothing to the gateway');

/** Recreated rather than changed: what is printed is the error's stack, which keeps the original message. */
function remade<Failure>(error: Failure, says: string, changed: ErrorFacts = {}): Failure {
  if (!(error instanceof SessionBrokerError) || error instanceof SessionRejected) return error;
  const { code, message, status, retryAfterMs, requestId, brokerCause, cause } = error;
  const Same = error.constructor as new (code: string, message: string, facts: ErrorFacts) => typeof error;
  return new Same(code, message + says, { status, retryAfterMs, requestId, brokerCause, cause, ...changed });
}

/** The broker cannot be reached, does not answer in time, or has no session to serve. Trying again later may help. */
export class BrokerUnavailable extends SessionBrokerError {}

/** The broker does not accept the credential (401), not even a freshly fetched one. */
export class Unauthenticated extends SessionBrokerError {}

/** The caller may not do this with this merchant, or there is no such merchant (403). */
export class Forbidden extends SessionBrokerError {}

/** The broker refuses this request (other 4xx), for example a malformed notification: retrying does not help. */
export class RequestRefused extends SessionBrokerError {}

/** The broker's answer to a caller that may see every merchant; for all others, an unknown merchant is forbidden. */
export const NO_MERCHANT = 'merchant_not_found';

/** The broker refuses this caller or merchant, and will keep doing so until a person changes something. */
export function isLasting(error: unknown): error is SessionBrokerError {
  if (error instanceof Unauthenticated || error instanceof Forbidden) return true;
  return error instanceof RequestRefused && error.code === NO_MERCHANT;
}

/** The answer does not match the contract: something else is listening there, or a proxy is in between. */
export class ProtocolError extends SessionBrokerError {}

/** Input that this package cannot use: an option, a key, a payload that is too long. */
export class InvalidInput extends SessionBrokerError {}

/** `close()` was called. */
export class ClientClosed extends SessionBrokerError {
  static at(place: Place): ClientClosed {
    return new ClientClosed('client_closed', `The session broker client is closed${nameOf(place)}`);
  }
}

/** The caller's own signal ended the call; `cause` is the signal's reason, unchanged. */
export class CallAborted extends SessionBrokerError {
  static by(reason: unknown): CallAborted {
    return new CallAborted('call_aborted', 'The caller aborted the call', { cause: reason });
  }
}

/** The reason for a 401 without a code: by the gateway's interface, the session is dead, whoever answered. */
export const BARE_UNAUTHORIZED = 'http_401';

/** What a refusal means for the payment, as the end of a sentence. */
function meaningOf(reason: string): string {
  if (reason !== BARE_UNAUTHORIZED) return ', so that the bank has not carried it out';
  return (
    '; the answer had no code of the bank, and may come from something in between, such as a proxy: that the bank has ' +
    "not carried it out is what the gateway's interface says of a 401"
  );
}

/** A reason in the form that the broker accepts; anything else could carry a secret into its log. */
const REASON = /^[A-Za-z0-9_]{1,64}$/;

/**
 * Throw this in the function given to `withSession` when the gateway says that the session is dead.
 * @example throw new SessionRejected('b_expired_token');
 */
export class SessionRejected extends SessionBrokerError {
  /** The gateway's code, such as `b_expired_token`; `unspecified` if the given reason is not a code. */
  readonly reason: string;

  /** @param facts `message` is from `withSession`, when the next session was rejected too */
  constructor(reason: string, { message, ...facts }: ErrorFacts & { readonly message?: string } = {}) {
    const code = reasonCode(reason);
    super('session_rejected', message ?? `The gateway rejected the session (${code})`, facts);
    this.reason = code;
  }
}

/** A wrong URL or environment is more likely than two dead sessions in a row. */
export function rejectedTwice(generation: number, cause: SessionRejected, place: Place): SessionRejected {
  const { reason } = cause;
  const twice = `The gateway rejected the session twice, with two sessions (${reason})${meaningOf(reason)}`;
  const message = `${twice}. Are the gateway's URL and environment right?${nameOf(place)}`;
  return new SessionRejected(reason, { message, rejection: { generation, reason }, cause });
}

function reasonCode(reason: unknown): string {
  return typeof reason === 'string' && REASON.test(reason) ? reason : 'unspecified';
}

/**
 * The gateway has answered, so the bank has the request, but the broker did not open the answer in time or at all;
 * `cause` says why. Sending the payment again does not help: a notification or the bank tells what became of it.
 */
export class AnswerUnopened extends SessionBrokerError {}

/**
 * The request was on its way to the gateway, but no usable answer came back: nobody knows whether the bank has it.
 * `lookUp` tells, or a notification. For an order without its id, sending the same request again under the same
 * merchantRequestId does. `code` is the egress's word: `answer_late`, `answer_lost` or `answer_unusable`.
 */
export class AnswerLost extends SessionBrokerError {}

const DUPLICATE = 'b_duplicate_field_value';
const HAS_IT = 'The bank has a request with this merchantRequestId already: lookUp tells what became of it';
const REFUSED_NOW = 'One that was sent before with the same merchantRequestId may be there';

/** The gateway refused the request: `code` is its msgCode, under `status`. */
export class GatewayRefused extends SessionBrokerError {
  /** All that it said, such as `msgText`. It may quote the request, so neither JSON nor the console prints it. */
  declare readonly answer: Readonly<Record<string, unknown>>;

  constructor(msgCode: unknown, status: number, answer: GatewayRefused['answer']) {
    const code = reasonCode(msgCode);
    const what = code === DUPLICATE ? HAS_IT : REFUSED_NOW;
    super(code, `The gateway refused the request: ${status} ${code}. ${what}`, { status });
    Object.defineProperty(this, 'answer', { value: answer, enumerable: false });
  }
}

/** There was no connection to the gateway, so nothing was sent: the request may be sent again. */
export class GatewayUnreachable extends SessionBrokerError {}

const KIND = {
  ...{ BrokerUnavailable, Unauthenticated, Forbidden, RequestRefused, ProtocolError, InvalidInput, ClientClosed },
  ...{ CallAborted, SessionRejected, AnswerUnopened, AnswerLost, GatewayRefused, GatewayUnreachable },
};
for (const [kind, type] of Object.entries(KIND)) Object.defineProperty(type, 'kind', { value: kind });
