import { isBadPort, isError, SessionBrokerError, systemCodeOf } from './errors.js';

/** What is right after both: a payment that is repeated under another id is a second payment. */
const WHAT_TO_DO =
  'Keep the merchantRequestId and send it under no other: a notification or the bank tells what became of it';
/**
 * Of making a connection alone: before there is one, nothing can be sent. With TLS that is before the certificate of the
 * other side has been found good.
 */
const NO_CONNECTION: readonly unknown[] = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  'ERR_TLS_CERT_ALTNAME_INVALID',
];
const NO_URL = 'ERR_INVALID_URL';
/** Of the platform's own errors; any other name could be anything. */
const NAMES: Readonly<Record<string, string>> = {
  AbortError: 'AbortError',
  TimeoutError: 'TimeoutError',
  SyntaxError: 'no JSON',
};
const MAX_DEPTH = 5;
/** A type and nothing behind it: a parameter could be anything. */
const MEDIA_TYPE = /^\s*([a-z]{1,20}\/[a-z0-9][a-z0-9.+-]{0,60})\s*(?:;|$)/i;

/** As fetch gives it, and others whose answers are of its form; of it, status and content type are read, and no more. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers?: { get(name: string): unknown } | undefined;
}

/**
 * The gateway has answered, so that the bank has the request, but the broker did not open the answer in time or at all;
 * `cause` says why. Sending the payment again is no remedy: a notification or the bank tells what became of it.
 */
export class AnswerUnopened extends SessionBrokerError {
  static override readonly kinds = ['AnswerUnopened', ...SessionBrokerError.kinds];
}

/**
 * The request was on its way to the gateway, and no answer that can be used came back: nobody knows whether the bank has
 * it. Of an order without its id the same request, sent again under the same merchantRequestId, tells; else a notification or the bank.
 */
export class AnswerLost extends SessionBrokerError {
  static override readonly kinds = ['AnswerLost', ...SessionBrokerError.kinds];
}

/** There was no connection to the gateway, so that nothing was sent: the request may be sent again. */
export class GatewayUnreachable extends SessionBrokerError {
  static override readonly kinds = ['GatewayUnreachable', ...SessionBrokerError.kinds];
}

/**
 * For what happens to a request that may have reached the gateway: give it to the `catch` of the fetch, and with the
 * answer to that of reading it; or call it with an answer that is neither a JWE nor a `msgCode`. The fetch must
 * follow no redirect (`redirect: 'error'`): behind one, a connection that was refused says nothing of what was sent before.
 * @throws AnswerLost; GatewayUnreachable when a connection could not be made; an error of this package as it is
 * @example const response = await fetch(url, { ...request, redirect: 'error' }).catch(answerLost);
 * const body = await response.json().catch((error) => answerLost(error, response));
 */
export function answerLost(cause: unknown, answer?: GatewayAnswer): never {
  if (cause instanceof SessionBrokerError) throw cause;
  const given = [answer, cause].find(isAnswer);
  const why = given === undefined ? whyNotSent(cause) : undefined;
  if (why !== undefined) {
    const message = `The gateway cannot be reached: ${why}. The request was not sent, and may be sent again`;
    throw new GatewayUnreachable('gateway_unreachable', `${message} with the same merchantRequestId`, { cause });
  }
  const what = [...answerTexts(given), ...failureTexts(cause)].join(', ');
  const message = `No answer of the gateway that can be used${what === '' ? '' : `: ${what}`}`;
  const unknown = 'Nobody knows whether the bank has the request';
  // A parser quotes what it read, and that may be anybody's page.
  const isOfParser = isError(cause) && cause.name === 'SyntaxError';
  throw new AnswerLost('answer_lost', `${message}. ${unknown}. ${WHAT_TO_DO}`, isOfParser ? {} : { cause });
}

/** What kept an answer from being opened, as the error of a payment; a reason of the caller's own signal as it is. */
export function unopened(cause: unknown): unknown {
  if (!(cause instanceof SessionBrokerError) || cause instanceof AnswerUnopened) return cause;
  const { status, retryAfterMs, requestId, brokerCause } = cause;
  return new AnswerUnopened(
    'answer_unopened',
    'The gateway has answered, so that the bank has the request, but its answer was not opened. ' +
      `${WHAT_TO_DO}. ${cause.message}`,
    { status, retryAfterMs, requestId, brokerCause, cause },
  );
}

/** Whether the bank has the request, or may have it, by what this package says of it. */
export function mayBeCarriedOut(error: unknown): boolean {
  return error instanceof AnswerUnopened || error instanceof AnswerLost;
}

/** Why nothing was sent; undefined where that is not certain. */
function whyNotSent(cause: unknown): string | undefined {
  const code = systemCodeOf(cause);
  if (code === NO_URL)
    return `${code}, its URL has to begin with http:// or https://; is its environment variable set?`;
  if (NO_CONNECTION.includes(code) || isOfConnecting(cause)) return code ?? 'there was no connection';
  return isBadPort(cause) ? 'fetch never asks that port ("bad port")' : undefined;
}

/** The system names the call that failed: in that of a connection, nothing was sent. */
function isOfConnecting(error: unknown, depth = 0): boolean {
  if (!isError(error) || depth > MAX_DEPTH) return false;
  const { syscall, errors, cause } = error as ConnectionFailure;
  // One for each address that the name has.
  if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => isOfConnecting(each, depth + 1));
  return syscall === 'connect' || isOfConnecting(cause, depth + 1);
}

interface ConnectionFailure {
  readonly syscall?: unknown;
  readonly errors?: unknown;
  readonly cause?: unknown;
}

/** Not an error that has a status as well: such are of many makers, and mean many things. */
function isAnswer(value: unknown): value is GatewayAnswer {
  if (typeof value !== 'object' || value === null || isError(value)) return false;
  return 'status' in value && typeof value.status === 'number';
}

/** Only what cannot quote the request, here and below. */
function answerTexts(answer: GatewayAnswer | undefined): readonly string[] {
  if (answer === undefined) return [];
  const { status, headers } = answer;
  const type = typeof headers?.get === 'function' ? headers.get('content-type') : undefined;
  const media = typeof type === 'string' ? MEDIA_TYPE.exec(type)?.[1] : undefined;
  return media === undefined ? [`status ${status}`] : [`status ${status}`, media.toLowerCase()];
}

function failureTexts(cause: unknown): readonly string[] {
  const code = systemCodeOf(cause);
  if (code !== undefined) return [code];
  if (!isError(cause)) return [];
  if (isRedirect(cause)) return ['a redirect'];
  const text = Object.hasOwn(NAMES, cause.name) ? NAMES[cause.name] : undefined;
  return text === undefined ? [] : [text];
}

/** Fetch refuses to follow with this text and no code, and tells no status. */
function isRedirect(error: Error): boolean {
  return isError(error.cause) && error.cause.message === 'unexpected redirect';
}
