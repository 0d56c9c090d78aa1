import { type Session, SessionRejected } from '#libs/client';
import { BrokerError } from '#libs/errors';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';
import { deathIn } from './dead-session.js';
import type { AdmittedRequest, ExchangeParts } from './exchange-parts.js';

/** Trace headers for the call that is about to be made. */
type TraceHeaders = Readonly<Record<string, string>>;

/** One send, with everything sealed and every header set for this session. */
export type Send = (session: Session, trace: TraceHeaders) => Promise<GatewayAnswer>;

type Sending = Pick<ExchangeParts, 'session'> & Pick<AdmittedRequest, 'gone' | 'record'>;

const NO_TRACE: TraceHeaders = {};
const FIRST_FAILURE = 400;

/**
 * Sends a request, and once more if the gateway refused it for a dead session with a code from the closed list. Nothing
 * else is ever repeated: after a time-out or a broken connection, the bank may have the request.
 * @returns the last answer, which may be a refusal: without a newer session, it is the bank's own of the first send
 */
export async function sendOnceOrTwice(sending: Sending, send: Send): Promise<GatewayAnswer> {
  const { session, gone, record } = sending;
  let refusal: GatewayAnswer | undefined;
  const sendWith = async (current: Session): Promise<GatewayAnswer> => {
    const isSecond = refusal !== undefined;
    record.isRepeated = isSecond;
    const { generation } = current;
    const acceptedBefore = session.acceptedWith(generation);
    record.generation = generation;
    const call = record.span?.call('POST');
    let answer: GatewayAnswer | undefined;
    try {
      answer = await send(current, call?.headers ?? NO_TRACE);
    } finally {
      call?.end(answer?.status);
    }
    const death = deathIn(answer);
    if (death === undefined) {
      if (answer.status < FIRST_FAILURE) session.accepted(generation);
      return answer;
    }
    record.deaths.push(death.code);
    if (isSecond) return answer;
    if (death.mayRepeat) {
      refusal = answer;
      throw new SessionRejected(death.code);
    }
    // A bare 401 may come from anything in between: it is no death of a session that was accepted since.
    const isAlive = !death.mayRepeat && session.acceptedWith(generation) > acceptedBefore;
    if (!isAlive) session.report(generation, death.code);
    return answer;
  };
  try {
    return await session.use(sendWith, gone);
  } catch (error) {
    if (refusal !== undefined && error instanceof BrokerError && error.code === 'session_unavailable') return refusal;
    throw error;
  }
}
