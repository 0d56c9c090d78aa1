import {
  AnswerLost,
  AnswerUnopened,
  BARE_UNAUTHORIZED,
  GatewayUnreachable,
  mayBeCarriedOut,
  mediaTypeOf,
  SessionBrokerError,
  SessionRejected,
} from './errors.js';
import { evidenceIn, type FailureEvidence, memberOf, systemCodeIn } from './failure-evidence.js';
import { isOfAnEgress, isProblemOfOurs, NO_RESOURCE } from './problem.js';

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

/** A payment that is repeated under another id is a second payment. */
const FIND_OUT =
  'Keep the merchantRequestId and send it under no other: lookUp, a notification or the bank tells what became of it';
const NOT_SENT = 'The request was not sent, and may be sent again with the same merchantRequestId';
/**
 * Codes that occur only before there is a connection over which anything could be sent. With TLS that means before the
 * other side's certificate has been accepted.
 */
const NO_CONNECTION: readonly unknown[] = [
  ...['ERR_INVALID_URL', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_REVOKED', 'CERT_UNTRUSTED', 'CERT_REJECTED', 'CERT_SIGNATURE_FAILURE'],
  ...['CERT_CHAIN_TOO_LONG', 'PATH_LENGTH_EXCEEDED', 'INVALID_CA', 'INVALID_PURPOSE', 'HOSTNAME_MISMATCH'],
  // From a handshake. On a connection whose handshake is done, fetch says UND_ERR_SOCKET instead.
  ...['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_UNSUPPORTED_PROTOCOL', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
  ...['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'],
];
const MAX_DEPTH = 5;
/** How the platform names the end that a signal made. */
const ABORTED: readonly string[] = ['AbortError', 'TimeoutError'];
const LATE: readonly unknown[] = ['TimeoutError', 'ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];
/** Statuses with which the broker and the egress refuse a request before doing anything else with it. */
const REFUSED_AT_ONCE: readonly number[] = [401, 404, 405, 415];

const MSG_CODE = /^b_[a-z_]{1,64}$/;
/** The gateway's own code for not knowing what became of the request. */
export const UNKNOWN_ERROR = 'b_unknown_error';
/** Its code for a request with a missing or wrong member, which others use, too. */
const NOT_VALID = 'VALIDATION_ERROR';

/** An answer of fetch, or of a client with the same form. Only status, content type and the URL's origin are read. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers?: { get(name: string): unknown } | undefined;
  readonly url?: string | undefined;
}

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

/**
 * Judges what happened to a request that may have reached the gateway: behind a merchant SDK, outside `withSession`,
 * `.catch(answerLost)` looks into what the SDK has wrapped (`cause`, `originalError`, `response`). The request must not
 * follow redirects: after one, a refused connection says nothing about what was sent before.
 * @param about the answer, or the request if none came, so that the message of GatewayUnreachable names the gateway
 * @throws AnswerLost with the egress's code for it: `answer_late`, `answer_unusable` if there is an answer, else
 * `answer_lost`; GatewayUnreachable when there was no connection; an error of this package or a refusal, unchanged
 */
export function answerLost(cause: unknown, about?: GatewayAnswer | { readonly url: string }): never {
  if (cause instanceof SessionBrokerError) throw cause;
  const answer = [about, cause].find(isGatewayAnswer);
  const evidence = evidenceIn(cause);
  if (answer === undefined) throwIfCertain(evidence, cause, about);
  else if (REFUSED_AT_ONCE.includes(answer.status) && isProblemOfOurs(cause)) {
    throw notTheGateway('a broker or an egress', answer);
  }
  const facts = factsOf(answer, evidence);
  const end = endOf(evidence, cause);
  const what = [...facts, ...(end === undefined ? [] : [end])].join(', ');
  const message = `No answer of the gateway that can be used${what === '' ? '' : `: ${what}`}`;
  const says = `${message}. Nobody knows whether the bank has the request. ${FIND_OUT}`;
  const isAnswered = end === undefined && facts.length > 0;
  const code = LATE.includes(end) ? 'answer_late' : isAnswered ? 'answer_unusable' : 'answer_lost';
  throw new AnswerLost(code, says, isKept(evidence, cause, answer) ? { cause } : {});
}

/** For a URL of this product used in place of the gateway's; a cause that is an answer to a fetch tells which. */
export function notTheGateway(who: 'an egress' | 'a broker or an egress', cause: unknown): GatewayUnreachable {
  const answer = isGatewayAnswer(cause) ? ` (${answerTexts(cause).join(', ')})` : '';
  const says = `It is ${who} that answers${originOf(cause) || ' there'}${answer}, and no gateway`;
  const remedy = "the URL has to be the gateway's own";
  return new GatewayUnreachable('not_the_gateway', `${says}: ${remedy}. ${NOT_SENT}`, { cause });
}

/** Turns what kept an answer from being opened, even the caller's own signal, into the error of a payment. */
export function unopened(cause: unknown): unknown {
  if (!(cause instanceof SessionBrokerError) || cause instanceof AnswerUnopened) return cause;
  const { status, retryAfterMs, requestId, brokerCause } = cause;
  return new AnswerUnopened(
    'answer_unopened',
    'The gateway has answered, so that the bank has the request, but its answer was not opened. ' +
      `${FIND_OUT}. ${cause.message}`,
    { status, retryAfterMs, requestId, brokerCause, cause },
  );
}

/** Throws what makes the outcome certain: an error of this package, a refusal as it came, or no connection. */
function throwIfCertain(evidence: FailureEvidence, cause: unknown, request: unknown): void {
  const { ours, documents, statuses } = evidence;
  const known = ours.find(mayBeCarriedOut) ?? ours.find((error) => error instanceof GatewayUnreachable);
  if (known !== undefined) throw known;
  if (documents.some((document) => isProblemOfOurs(document) && document['code'] === NO_RESOURCE)) {
    throw notTheGateway('a broker or an egress', cause);
  }
  if (isRefusal(evidence)) throw cause;
  if (statuses.length > 0 || !hadNoConnection(cause)) return;
  const why = systemCodeIn(cause) ?? 'there was no connection';
  const says = `The gateway${originOf(request)} cannot be reached: ${why}. ${NOT_SENT}`;
  throw new GatewayUnreachable('gateway_unreachable', says, { cause });
}

function isRefusal({ msgCodes, statuses, documents }: FailureEvidence): boolean {
  if (statuses.length === 0 || msgCodes.includes(UNKNOWN_ERROR) || documents.some(isOfAnEgress)) return false;
  if (msgCodes.some((code) => MSG_CODE.test(code))) return statuses.every((status) => status < 500);
  return msgCodes.includes(NOT_VALID) && statuses.every((status) => status >= 400 && status < 500);
}

function hadNoConnection(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return false;
  if (error instanceof SessionBrokerError) return false;
  const [code, syscall, errors] = ['code', 'syscall', 'errors'].map((name) => memberOf(error, name));
  // One error for each address of the name.
  if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => hadNoConnection(each, depth + 1));
  if (syscall === 'connect' || NO_CONNECTION.includes(code)) return true;
  if (syscall !== undefined) return false;
  const wrapped = ['cause', 'originalError'].map((name) => memberOf(error, name)).filter((each) => each !== undefined);
  return wrapped.length > 0 && wrapped.every((each) => hadNoConnection(each, depth + 1));
}

/** Errors do not count, even those with a status: they come from many libraries and mean many things. */
function isGatewayAnswer(value: unknown): value is GatewayAnswer {
  if (typeof value !== 'object' || value === null || isError(value)) return false;
  return 'status' in value && typeof value.status === 'number';
}

/** Of anything with a URL: scheme, host and port. The rest may hold a secret. */
function originOf(asked: unknown): string {
  const url = typeof asked === 'object' && asked !== null && 'url' in asked ? asked.url : undefined;
  if (typeof url !== 'string' || !/^https?:/i.test(url) || !URL.canParse(url)) return '';
  return ` at ${new URL(url).origin}`;
}

/** Here and below, only texts that cannot quote the request or the answer. */
function factsOf(answer: GatewayAnswer | undefined, { statuses, msgCodes }: FailureEvidence): readonly string[] {
  const told = answer === undefined ? statuses.slice(0, 1).map((status) => `status ${status}`) : answerTexts(answer);
  return [...told, ...msgCodes.filter((code) => MSG_CODE.test(code) || code === NOT_VALID).slice(0, 1)];
}

function answerTexts({ status, headers }: GatewayAnswer): readonly string[] {
  return [`status ${status}`, mediaTypeOf(headers)].filter((text) => text !== undefined);
}

function endOf({ links }: FailureEvidence, cause: unknown): string | undefined {
  const names = links.map((link) => memberOf(link, 'name'));
  return ABORTED.find((each) => names.includes(each)) ?? systemCodeIn(cause);
}

/** What was read is never kept: a parser quotes it, and it may be anyone's page. Of an answer, our errors keep little. */
function isKept({ links }: FailureEvidence, cause: unknown, answer: GatewayAnswer | undefined): boolean {
  return cause === answer || (isError(cause) && !links.some((link) => memberOf(link, 'name') === 'SyntaxError'));
}

/** The platform's errors may come from another realm than this module, where `instanceof` does not recognize them. */
function isError(value: unknown): boolean {
  return value instanceof Error || /^\[object (?:Error|DOMException)\]$/.test(Object.prototype.toString.call(value));
}
