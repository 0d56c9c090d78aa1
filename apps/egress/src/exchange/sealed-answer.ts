import { BrokerError } from '#libs/errors';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';
import { jsonObjectIn } from './json-object.js';

const UNAUTHORIZED = 401;

/** What the gateway answers to a sealed body: a sealed body as well, or an error in the clear. */
export type SealedAnswer =
  { readonly kind: 'sealed'; readonly jwe: string } | { readonly kind: 'error'; readonly bytes: Buffer };

/**
 * Reads an answer in one of the two forms of the interface description; a bare JWE is neither.
 * @throws BrokerError `answer_unusable`
 */
export function sealedAnswerOf(answer: GatewayAnswer): SealedAnswer {
  if (answer.kind === 'stream') {
    answer.stream.destroy();
    throw unusable('it is too long');
  }
  // The status says so, whatever the body.
  if (answer.status === UNAUTHORIZED) return { kind: 'error', bytes: answer.bytes };
  const document = jsonObjectIn(answer.bytes);
  if (typeof document?.['jwe'] === 'string') return { kind: 'sealed', jwe: document['jwe'] };
  if (typeof document?.['msgCode'] === 'string') return { kind: 'error', bytes: answer.bytes };
  throw unusable(`status ${answer.status}, neither {"jwe"} nor an error`);
}

function unusable(detail: string): BrokerError {
  return new BrokerError('answer_unusable', { detail });
}
