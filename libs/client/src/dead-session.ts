import { BARE_UNAUTHORIZED, mayBeCarriedOut, SessionRejected } from './errors.js';
import { evidenceIn, type FailureEvidence } from './failure-evidence.js';
import { notTheGateway } from './payment-outcome.js';
import { isOfAnEgress, isProblemOfOurs } from './problem.js';

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
 * The reason to report if a failure means that the session is dead: the gateway's code, or `http_401` if it gave none;
 * undefined for any other failure. Accepts a body as an object, text or octets, and an answer or error that keeps one,
 * or another error, as `response`, `originalError` or `cause`. The code decides first, under any status, then HTTP 401.
 * Revoked access is not a dead session, even under 401; nor is a payment that the bank has or may have.
 * @throws GatewayUnreachable `not_the_gateway` when an egress that knows no such session answered, because its URL is
 * set where the gateway's should be: it would refuse a newer session as well, and each would cost a create call
 */
export function deadSessionCode(failure: unknown): string | undefined {
  const evidence = evidenceIn(failure);
  if (evidence.ours.some(mayBeCarriedOut)) return undefined;
  const code = verdictOn(evidence);
  if (code !== undefined && evidence.documents.some(isOfAnEgress)) throw notTheGateway('an egress', failure);
  return code;
}

function verdictOn({ ours, documents, msgCodes, statuses }: FailureEvidence): string | undefined {
  const rejection = ours.find((error) => error instanceof SessionRejected)?.reason;
  if (msgCodes.includes(REVOKED) || rejection === REVOKED) return undefined;
  // A problem may come from a call to the broker made after the payment, which is no reason to repeat the payment.
  const isBareUnauthorized = statuses.includes(401) && !documents.some(isProblemOfOurs);
  return msgCodes.find((code) => DEAD.has(code)) ?? rejection ?? (isBareUnauthorized ? BARE_UNAUTHORIZED : undefined);
}
