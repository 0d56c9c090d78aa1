import type { Answer } from './callers.js';

/**
 * What a caller got, in a few words:
 * `good`: the payment's answer; `as sent`: what the gateway sent; `502 answer_lost` and the like: an answer by the
 * egress itself; `cut`: a connection that ended before its answer did.
 */
export function outcomeOf(
  answer: Answer,
  { good, sent }: { readonly good: string; readonly sent?: SentAnswer },
): string {
  if (answer.isCut) return 'cut';
  if (answer.status === 200 && answer.text === good) return 'good';
  if (sent !== undefined && answer.status === sent.status && answer.text === sent.body) return 'as sent';
  return `${answer.status} ${answer.code ?? answer.text.slice(0, 200)}`;
}

/** What the gateway answered, in the clear. */
export interface SentAnswer {
  readonly status: number;
  readonly body: string;
}
