import { type Session, SessionRejected } from '#libs/client';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';
import { deathIn } from './dead-session.js';
import type { AdmittedRequest, ExchangeParts } from './exchange-parts.js';

/** Trace headers for the call that is about to be made. */
type TraceHeaders = Readonly<Record<string, string>>;

/** One send, with everything sealed and every header set for this session. */
export type Send = (session: Session, trace: TraceHeaders) => Promise<GatewayAnswer>;

interface SendingOptions {
  /** Whether the request can be sent again: not if part of its body is gone. */
  readonly isRepeatable: boolean;
}

type Sending = Pick<ExchangeParts, 'session'> & Pick<AdmittedRequest, 'request' | 'gone' | 'trail'>;

const NO_TRACE: TraceHeaders = {};

/**
 * Sends a request, and once more if the gateway refused it for a dead session with a code from the closed list. Nothing
 * else is ever repeated: after a time-out or a broken connection, the bank may have the request.
 * @returns the last answer, which may be a refusal
 */
export async function sendOnceOrTwice(
  sending: Sending,
  send: Send,
  { isRepeatable }: SendingOptions,
): Promise<GatewayAnswer> {
  const { session, gone, trail } = sending;
  let isSecond = false;
  return session.use(async (current) => {
    if (isSecond) trail.repeated();
    const answer = await traced(sending, current, send);
    const death = deathIn(answer);
    if (death === undefined) return answer;
    trail.died(death.code);
    if (isSecond) return answer;
    if (death.mayRepeat && isRepeatable) {
      isSecond = true;
      throw new SessionRejected(death.code);
    }
    session.report(current.generation, death.code);
    return answer;
  }, gone);
}

async function traced({ request, trail }: Sending, session: Session, send: Send): Promise<GatewayAnswer> {
  trail.sent(session.generation);
  const call = trail.call(request.method ?? 'POST');
  let status: number | undefined;
  try {
    const answer = await send(session, call?.headers ?? NO_TRACE);
    status = answer.status;
    return answer;
  } finally {
    call?.end(status);
  }
}
