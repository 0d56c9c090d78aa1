import { bodyCopyOf } from './body-copy.js';
import { BARE_UNAUTHORIZED, reasonCode, SessionRejected } from './errors.js';
import { evidenceIn, type FailureEvidence } from './failure-evidence.js';
import { notTheGateway } from './payment-errors.js';
import { systemTime, type Time } from './time.js';

/** Published codes, whatever the status. Both spellings of the last are published. */
const DEAD: ReadonlySet<string> = new Set([
  'b_expired_token',
  'b_used_token',
  'b_previous_auth_token_expired',
  'b_unknown_device',
  'b_session_doesnt_exist',
  'b_session_doesnt_exists',
]);

/** Access was revoked: only the bank can restore it, a newer session cannot. */
const REVOKED = 'b_auth_token_expired';

/**
 * Whether a failure means that the session is dead, so that the request has to be repeated with another one. Accepts
 * whatever a client of the gateway has: a `Response` of fetch (a copy of its body is read, never the body itself), an
 * error from fetch, undici, axios or a merchant SDK, or a body as an object, text or octets. The gateway's code decides
 * first, under any status, then HTTP 401. Revoked access (`b_auth_token_expired`) is not a dead session, even under
 * 401.
 *
 * Always returns a promise, because any of them may contain a `Response`. It reads at most 64 KiB of a body and waits
 * at most two seconds.
 * @throws GatewayUnreachable `not_the_gateway` when an egress that knows no such session answered, because its URL is
 * set where the gateway's should be; throws nothing else
 */
export async function isDeadSession(failure: unknown): Promise<boolean> {
  return (await deadSessionCode(failure)) !== undefined;
}

/**
 * Like `isDeadSession`, but gives the reason: the gateway's code, or `http_401` if it gave none; undefined for any
 * other failure.
 * @throws GatewayUnreachable as isDeadSession
 */
export function deadSessionCode(failure: unknown): Promise<string | undefined> {
  return deadSessionCodeIn(failure, systemTime);
}

export async function deadSessionCodeIn(failure: unknown, time: Time): Promise<string | undefined> {
  return verdictOn(ofTheGateway(await wholeEvidence(failure, time), failure));
}

/** What the function given to `withSession` threw, and how its caller judges such errors. */
export interface ThrownFailure {
  readonly error: unknown;
  readonly isRejection?: RejectionPredicate | undefined;
}

type Verdict = boolean | string | undefined;
/** For an error of the function: the gateway's code or true if it rejected the session, else false or undefined. */
export type RejectionPredicate = (error: unknown) => Verdict | Promise<Verdict>;

/**
 * The reason to report, or undefined if the error is not a rejection. Revoked access is not one, whatever the caller
 * says: reporting and repeating would achieve nothing. Nor is a payment that the bank has or may have.
 * @throws GatewayUnreachable `not_the_gateway` when an egress refused the session because it is not one of its own
 */
export async function rejectionReason({ error, isRejection }: ThrownFailure, time: Time): Promise<string | undefined> {
  const evidence = await wholeEvidence(error, time);
  if (evidence.mayBeCarriedOut) return undefined;
  ofTheGateway(evidence, error);
  if (isRejection === undefined || error instanceof SessionRejected) return verdictOn(evidence);
  const verdict = await isRejection(error);
  const isDead = verdict !== undefined && verdict !== false && verdict !== REVOKED && !evidence.codes.includes(REVOKED);
  return isDead ? reasonCode(verdict) : undefined;
}

async function wholeEvidence(failure: unknown, time: Time): Promise<FailureEvidence> {
  const evidence = evidenceIn(failure);
  const bodies = await Promise.all(evidence.unread.map((answer) => bodyCopyOf(answer, time)));
  const read = bodies.map((body) => evidenceIn(body));
  const codes = [...evidence.codes, ...read.flatMap((body) => body.codes)];
  return { ...evidence, codes, ownAnswer: [evidence, ...read].find(({ ownAnswer }) => ownAnswer)?.ownAnswer };
}

/** An egress would refuse a newer session as well, and each would cost a create call. */
function ofTheGateway(evidence: FailureEvidence, cause: unknown): FailureEvidence {
  const { ownAnswer } = evidence;
  if (ownAnswer === 'an egress' && verdictOn(evidence) !== undefined) throw notTheGateway(ownAnswer, cause);
  return evidence;
}

function verdictOn({ codes, rejection, isUnauthorized, ownAnswer }: FailureEvidence): string | undefined {
  if (codes.includes(REVOKED)) return undefined;
  // A problem may come from a call to the broker made after the payment, which is no reason to repeat the payment.
  const isBareUnauthorized = isUnauthorized && ownAnswer !== 'a broker or an egress';
  return codes.find((code) => DEAD.has(code)) ?? rejection ?? (isBareUnauthorized ? BARE_UNAUTHORIZED : undefined);
}
