import { SessionBrokerError } from './errors.js';
import { originOf } from './gateway-place.js';
import type { OwnAnswer } from './own-answer.js';
import { answerTexts, isAnswer } from './printed-answer.js';

/** Applies to both errors below: a payment that is repeated under another id is a second payment. */
export const NO_OTHER_ID = 'Keep the merchantRequestId and send it under no other:';
export const WHO_TELLS = 'a notification or the bank tells what became of it';
export const NOT_SENT = 'The request was not sent, and may be sent again with the same merchantRequestId';

/**
 * The gateway has answered, so the bank has the request, but the broker did not open the answer in time or at all;
 * `cause` says why. Sending the payment again does not help: a notification or the bank tells what became of it.
 */
export class AnswerUnopened extends SessionBrokerError {
  static override readonly kinds = ['AnswerUnopened', ...SessionBrokerError.kinds];
}

/**
 * The request was on its way to the gateway, but no usable answer came back: nobody knows whether the bank has it. For
 * an order without its id, sending the same request again under the same merchantRequestId tells; otherwise a
 * notification or the bank does.
 */
export class AnswerLost extends SessionBrokerError {
  static override readonly kinds = ['AnswerLost', ...SessionBrokerError.kinds];
}

/** There was no connection to the gateway, so nothing was sent: the request may be sent again. */
export class GatewayUnreachable extends SessionBrokerError {
  static override readonly kinds = ['GatewayUnreachable', ...SessionBrokerError.kinds];
}

/** For a URL of this product used in place of the gateway's; a cause that is an answer to a fetch tells which. */
export function notTheGateway(who: OwnAnswer, cause: unknown): GatewayUnreachable {
  const place = originOf(cause);
  const there = place === undefined ? 'there' : `at ${place}`;
  const answer = isAnswer(cause) ? ` (${answerTexts(cause).join(', ')})` : '';
  const says = `It is ${who} that answers ${there}${answer}, and no gateway: the URL has to be the gateway's own.`;
  return new GatewayUnreachable('not_the_gateway', `${says} ${NOT_SENT}`, { cause });
}

/** Turns what kept an answer from being opened, even the caller's own signal, into the error of a payment. */
export function unopened(cause: unknown): unknown {
  if (!(cause instanceof SessionBrokerError) || cause instanceof AnswerUnopened) return cause;
  const { status, retryAfterMs, requestId, brokerCause } = cause;
  return new AnswerUnopened(
    'answer_unopened',
    'The gateway has answered, so that the bank has the request, but its answer was not opened. ' +
      `${NO_OTHER_ID} ${WHO_TELLS}. ${cause.message}`,
    { status, retryAfterMs, requestId, brokerCause, cause },
  );
}

/** Whether the bank has the request, or may have it, according to this package's own errors. */
export function mayBeCarriedOut(error: unknown): boolean {
  return error instanceof AnswerUnopened || error instanceof AnswerLost;
}
