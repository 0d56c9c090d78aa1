import { isError, SessionBrokerError, systemCodeOf } from './errors.js';

/** What is right after both: a payment that is repeated under another id is a second payment. */
const WHAT_TO_DO =
  'Keep the merchantRequestId and send it under no other: a notification or the bank tells what became of it';
/** Of making a connection alone: before there is one, nothing can be sent. */
const NO_CONNECTION: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];
/** Of the platform's own errors; any other name could be anything. */
const NAMES: readonly unknown[] = ['AbortError', 'TimeoutError', 'SyntaxError'];

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
 * For what happens to a request that may have reached the gateway: give it to the `catch` of the fetch and of reading the
 * answer, or call it with an answer that is neither a JWE nor a `msgCode`.
 * @throws AnswerLost; GatewayUnreachable when a connection could not be made; an error of this package as it is
 * @example const response = await fetch(url, request).catch(answerLost);
 */
export function answerLost(cause: unknown): never {
  if (cause instanceof SessionBrokerError) throw cause;
  if (NO_CONNECTION.includes(systemCodeOf(cause))) {
    const message = `The gateway cannot be reached${nameOf(cause)}. The request was not sent, and may be sent again`;
    throw new GatewayUnreachable('gateway_unreachable', `${message} with the same merchantRequestId`, { cause });
  }
  const message = `No answer of the gateway that can be used${nameOf(cause)}. Nobody knows whether the bank has the request`;
  throw new AnswerLost('answer_lost', `${message}. ${WHAT_TO_DO}`, { cause });
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

/** Only what cannot quote the request. */
function nameOf(cause: unknown): string {
  const code = systemCodeOf(cause);
  if (code !== undefined) return `: ${code}`;
  if (typeof cause !== 'object' || cause === null) return '';
  const { status, name } = cause as { readonly status?: unknown; readonly name?: unknown };
  if (isError(cause)) return NAMES.includes(name) ? `: ${String(name)}` : '';
  return typeof status === 'number' ? `: status ${status}` : '';
}
