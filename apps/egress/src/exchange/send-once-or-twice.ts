import { type Session, SessionRejected } from '#libs/client';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';
import { deathIn } from './dead-session.js';
import type { AdmittedRequest, ExchangeParts } from './exchange-parts.js';

/** One sending, with everything sealed and every header set for this session. */
export type Send = (session: Session) => Promise<GatewayAnswer>;

interface SendingOptions {
  /** Whether the request can be sent again: not if part of its body is gone. */
  readonly isRepeatable: boolean;
}

/**
 * Sends a request, and once more when the gateway refused it for a dead session by a code of the closed list. Nothing else
 * is ever repeated: after a time-out or a broken connection the bank may have the request.
 * @returns the last answer, which may be a refusal
 */
export async function sendOnceOrTwice(
  { session, gone, trail }: Pick<ExchangeParts, 'session'> & Pick<AdmittedRequest, 'gone' | 'trail'>,
  send: Send,
  { isRepeatable }: SendingOptions,
): Promise<GatewayAnswer> {
  let isSecond = false;
  return session.use(async (current) => {
    trail.sent(current.generation);
    if (isSecond) trail.repeated();
    const answer = await send(current);
    const death = await deathIn(answer);
    if (death === undefined || isSecond) return answer;
    trail.died(death.code);
    if (death.mayRepeat && isRepeatable) {
      isSecond = true;
      throw new SessionRejected(death.code);
    }
    session.report(current.generation, death.code);
    return answer;
  }, gone);
}
