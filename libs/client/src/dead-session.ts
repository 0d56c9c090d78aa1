import { within } from './deadline.js';
import { BARE_UNAUTHORIZED, mayBeCarriedOut, reasonCode, SessionRejected } from './errors.js';
import { evidenceIn, type FailureEvidence, MAX_BODY_OCTETS, memberOf } from './failure-evidence.js';
import type { FetchBody } from './fetch.js';
import { readStart } from './json.js';
import { notTheGateway } from './payment-outcome.js';
import { isOfAnEgress, isProblemOfOurs } from './problem.js';
import { systemTime, type Time } from './time.js';

/** Published codes, whatever the status. Both spellings of the last are published. */
export const DEAD: ReadonlySet<string> = new Set([
  'b_expired_token',
  'b_used_token',
  'b_previous_auth_token_expired',
  'b_unknown_device',
  'b_session_doesnt_exist',
  'b_session_doesnt_exists',
]);

/** Access was revoked: only the bank can restore it, a newer session cannot. */
const REVOKED = 'b_auth_token_expired';
/** A body that does not arrive tells us nothing, and a payment is waiting for it. */
const MAX_READ_MS = 2_000;

/**
 * Whether a failure means that the session is dead, so that the request has to be repeated with another one. Accepts a
 * `Response` of fetch (a copy of its body is read, never the body itself), a body as an object, text or octets, and an
 * error that keeps either of them, or another error, as `response`, `originalError` or `cause`. The gateway's code
 * decides first, under any status, then HTTP 401. Revoked access (`b_auth_token_expired`) is not a dead session, even
 * under 401.
 *
 * Always returns a promise, because any of them may contain a `Response`. It reads at most 64 KiB of a body and waits
 * at most two seconds.
 * @throws GatewayUnreachable `not_the_gateway` when an egress that knows no such session answered, because its URL is
 * set where the gateway's should be; throws nothing else
 */
export async function isDeadSession(failure: unknown): Promise<boolean> {
  return (await deadSessionCode(failure)) !== undefined;
}

/** Like `isDeadSession`, but gives the gateway's code, or `http_401` if it gave none; undefined for any other failure. */
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
  if (evidence.ours.some(mayBeCarriedOut)) return undefined;
  ofTheGateway(evidence, error);
  if (isRejection === undefined || error instanceof SessionRejected) return verdictOn(evidence);
  const verdict = await isRejection(error);
  const isDead = verdict !== undefined && verdict !== false && verdict !== REVOKED;
  return isDead && !evidence.msgCodes.includes(REVOKED) ? reasonCode(verdict) : undefined;
}

async function wholeEvidence(failure: unknown, time: Time): Promise<FailureEvidence> {
  const evidence = evidenceIn(failure);
  const bodies = await Promise.all(evidence.links.filter(isUnread).map((answer) => bodyCopyOf(answer, time)));
  const read = bodies.map(evidenceIn);
  const documents = [evidence, ...read].flatMap((one) => one.documents);
  return { ...evidence, documents, msgCodes: [evidence, ...read].flatMap((one) => one.msgCodes) };
}

interface UnreadAnswer {
  clone(): { readonly body: FetchBody | null };
}

function isUnread(link: object): link is UnreadAnswer {
  return memberOf(link, 'bodyUsed') === false && typeof memberOf(link, 'clone') === 'function';
}

/** The start of an answer's body, read from a copy so that its owner can still read the original. */
async function bodyCopyOf(answer: UnreadAnswer, time: Time): Promise<string> {
  try {
    const { text } = await within(time, { ms: MAX_READ_MS, parents: [], background: true }, ({ signal }) =>
      readStart(answer.clone().body, signal, MAX_BODY_OCTETS),
    );
    return text;
  } catch {
    // Already being read by someone else, cut off, or too slow.
    return '';
  }
}

/** An egress would refuse a newer session as well, and each would cost a create call. */
function ofTheGateway(evidence: FailureEvidence, cause: unknown): FailureEvidence {
  if (evidence.documents.some(isOfAnEgress) && verdictOn(evidence) !== undefined) {
    throw notTheGateway('an egress', cause);
  }
  return evidence;
}

function verdictOn({ ours, documents, msgCodes, statuses }: FailureEvidence): string | undefined {
  const rejection = ours.find((error) => error instanceof SessionRejected)?.reason;
  if (msgCodes.includes(REVOKED) || rejection === REVOKED) return undefined;
  // A problem may come from a call to the broker made after the payment, which is no reason to repeat the payment.
  const isBareUnauthorized = statuses.includes(401) && !documents.some(isProblemOfOurs);
  return msgCodes.find((code) => DEAD.has(code)) ?? rejection ?? (isBareUnauthorized ? BARE_UNAUTHORIZED : undefined);
}
