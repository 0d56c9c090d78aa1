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

/** Access revoked: only the bank restores it, and no newer session does. */
const REVOKED = 'b_auth_token_expired';

/**
 * Whether a failure means that the session is dead: create another one, and repeat. Takes what a client of the gateway
 * has in its hands: a `Response` of fetch (a copy of its body is read, never the body itself), an error of fetch, undici,
 * axios or a merchant SDK, or a body, as an object, text or octets. The gateway's code decides first, under whatever
 * status, then HTTP 401. Access that was revoked (`b_auth_token_expired`) is not a dead session, even under 401.
 *
 * Always a promise, because a `Response` may lie in any of them. It looks at 64 KiB at most and waits two seconds at most.
 * @throws GatewayUnreachable `not_the_gateway` when it is an egress that knows no such session: its URL stands where the gateway's should; nothing else
 */
export async function isDeadSession(failure: unknown): Promise<boolean> {
  return (await deadSessionCode(failure)) !== undefined;
}

/**
 * `isDeadSession` with the reason: the gateway's code, or `http_401` where it gave none; undefined for every other
 * failure.
 * @throws GatewayUnreachable as isDeadSession
 */
export function deadSessionCode(failure: unknown): Promise<string | undefined> {
  return deadSessionCodeIn(failure, systemTime);
}

export async function deadSessionCodeIn(failure: unknown, time: Time): Promise<string | undefined> {
  return verdictOn(ofTheGateway(await wholeEvidence(failure, time), failure));
}

/** What the function given to `withSession` threw, and what its caller says of such errors. */
export interface ThrownFailure {
  readonly error: unknown;
  readonly isRejection?: RejectionPredicate | undefined;
}

type Verdict = boolean | string | undefined;
/** Of an error of the function: the gateway's code or true where it rejected the session; false or undefined otherwise. */
export type RejectionPredicate = (error: unknown) => Verdict | Promise<Verdict>;

/**
 * The reason to report, or undefined when the error is no rejection. Access that was revoked is none, whatever the
 * caller says: it would be reported and repeated for nothing. Nor is a payment that the bank has or may have.
 * @throws GatewayUnreachable `not_the_gateway` when an egress refused the session, which is none of its own
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

/** A newer session would be refused there as well, and each would cost a create call. */
function ofTheGateway(evidence: FailureEvidence, cause: unknown): FailureEvidence {
  const { ownAnswer } = evidence;
  if (ownAnswer === 'an egress' && verdictOn(evidence) !== undefined) throw notTheGateway(ownAnswer, cause);
  return evidence;
}

function verdictOn({ codes, rejection, isUnauthorized, ownAnswer }: FailureEvidence): string | undefined {
  if (codes.includes(REVOKED)) return undefined;
  // A problem may be of a call to the broker, made after the payment: it is no reason to repeat that.
  const isBareUnauthorized = isUnauthorized && ownAnswer !== 'a broker or an egress';
  return codes.find((code) => DEAD.has(code)) ?? rejection ?? (isBareUnauthorized ? BARE_UNAUTHORIZED : undefined);
}
