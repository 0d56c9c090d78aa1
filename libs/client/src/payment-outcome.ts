import { SessionBrokerError } from './errors.js';
import {
  abortReason,
  isBadPort,
  isEndedByTls,
  isError,
  isUnexplained,
  NO_TLS,
  UNEXPLAINED,
  SPEAKS_NO_TLS,
  systemCodeOf,
} from './platform-errors.js';
import { IS_IT_SET } from './option-names.js';
import { isProblemOfOurs } from './own-answer.js';
import { evidenceIn, type FailureEvidence } from './failure-evidence.js';
import { addressIn, isOfOrder, originOf } from './gateway-place.js';
import { answerTexts, mediaTypeOf } from './printed-answer.js';
import {
  AnswerLost,
  GatewayUnreachable,
  mayBeCarriedOut,
  NO_OTHER_ID,
  NOT_SENT,
  notTheGateway,
  WHO_TELLS,
} from './payment-errors.js';

/** An order by itself moves no money. */
const ORDER_TELLS = '; an order of the hosted page without its hppOrderId is sent again with the same one, which tells';
/**
 * Codes that occur only while connecting: before there is a connection, nothing can be sent. With TLS that means before
 * the other side's certificate has been accepted.
 */
const NO_CONNECTION: readonly unknown[] = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_REVOKED', 'CERT_UNTRUSTED', 'CERT_REJECTED', 'CERT_SIGNATURE_FAILURE'],
  ...['CERT_CHAIN_TOO_LONG', 'PATH_LENGTH_EXCEEDED', 'INVALID_CA', 'INVALID_PURPOSE', 'HOSTNAME_MISMATCH'],
  // From a handshake. On a connection whose handshake is done, fetch says UND_ERR_SOCKET instead.
  ...['ERR_SSL_UNSUPPORTED_PROTOCOL', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
  ...['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'],
];
/** What Node.js says when a connection ends during the handshake; the code is that of any connection that ended. */
const ENDED_IN_HANDSHAKE = 'Client network socket disconnected before secure TLS connection was established';
/** The gateway itself refuses in JSON. */
const PAGES: readonly string[] = ['text/html', 'text/plain'];
const IS_IT_TLS = ' (does its URL begin with https://?)';
/** What fetch says about requests that it never sends. */
const NEVER_FETCHED: readonly { readonly says: RegExp; readonly why: string }[] = [
  { says: /^unknown scheme$/, why: 'its URL has to begin with http:// or https://.' },
  {
    says: /^Headers\.append: [^]*is an invalid header (?:name|value)\.$|^Cannot convert argument to a ByteString /,
    why: 'a header has a name or a value that none can have, such as one with a line break.',
  },
  {
    says: /^Request cannot be constructed from a URL that includes credentials/,
    why: 'its URL has a user or a password in it, which fetch does not take.',
  },
  { says: /^Request with GET\/HEAD method cannot have body\.$/, why: 'a GET has no body.' },
];
const NO_URL = 'ERR_INVALID_URL';
/** Names of the platform's own errors; any other name could be anything. */
const NAMES: Readonly<Record<string, string>> = {
  AbortError: 'the caller aborted it (AbortError)',
  TimeoutError: "the time of the caller's signal was up (TimeoutError)",
  SyntaxError: 'no JSON',
};
const MAX_DEPTH = 5;

/** The form of the gateway's codes. */
const MSG_CODE = /^b_[a-z_]{1,64}$/;
/** In capitals, like `VALIDATION_ERROR`: any other text under that name could be anything. */
const CODE_IN_CAPITALS = /^[A-Z]{2,30}(?:_[A-Z]{2,30}){1,4}$/;
/** The gateway's own code for not knowing what became of the request. */
const UNKNOWN_ERROR = 'b_unknown_error';
/** Its code for a request with a missing or wrong member; this one does not begin with `b_`. */
const NOT_VALID = 'VALIDATION_ERROR';

/** An answer of fetch, or of a client with the same form. Only status, content type and the URL's origin are read. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers?: { get(name: string): unknown } | undefined;
  readonly url?: string | undefined;
}

/** A request that got no answer. Its path, its query and anything before an `@` are never repeated. */
export interface GatewayRequest {
  readonly url: string;
}

/** Statuses with which the broker and the egress refuse a request before doing anything else with it. */
const REFUSED_AT_ONCE: readonly number[] = [401, 404, 405, 415];

/**
 * Judges what happened to a request that may have reached the gateway. Use it in the `catch` of the fetch and, with the
 * answer, in the `catch` of reading the body. Or call it with what was read and the answer, if that is neither a JWE
 * nor a certain refusal; a `msgCode` under 5xx or `b_unknown_error` is not a certain one. The fetch must not follow
 * redirects (`redirect: 'error'`): after one, a refused connection says nothing about what was sent before. It looks
 * inside what another client, such as a merchant SDK, wraps its failure in (`cause`, `originalError`): outside
 * `withSession`, `.catch(answerLost)` gives the error of this package, or a refusal of the gateway as the client threw
 * it.
 * @param about the answer, or the request if none came, so that the message of GatewayUnreachable names the gateway
 * @param signal that of the fetch: with it, the message says that the caller aborted it, whatever the reason
 * @throws AnswerLost; GatewayUnreachable when there was no connection; an error of this package or a refusal, unchanged
 * @example const response = await fetch(url, { ...request, redirect: 'error' }).catch((error) => answerLost(error, { url }));
 * const body = await response.json().catch((error) => answerLost(error, response));
 */
export function answerLost(cause: unknown, about?: GatewayAnswer | GatewayRequest, signal?: AbortSignal): never {
  if (cause instanceof SessionBrokerError) throw cause;
  const given = [about, cause].find(isAnswer);
  const { failures, facts, statuses } = given === undefined ? unansweredIn(cause, about) : answeredBy(given, cause);
  if (given !== undefined && REFUSED_AT_ONCE.includes(given.status) && isProblemOfOurs(cause)) {
    throw notTheGateway('a broker or an egress', given);
  }
  const what = [...facts, ...endTexts(failures, signal)].join(', ');
  const place = speaksTls({ given, failures, statuses }, about) ? IS_IT_TLS : placeOf(statuses);
  const message = `No answer of the gateway that can be used${place}${what === '' ? '' : `: ${what}`}`;
  const unknown = 'Nobody knows whether the bank has the request';
  const isKept = given === undefined ? isError(cause) && !failures.some(isOfParser) : isShown(cause, given);
  throw new AnswerLost(
    'answer_lost',
    `${message}. ${unknown}. ${NO_OTHER_ID} ${whoTells(about)}`,
    isKept ? { cause } : {},
  );
}

const whoTells = (asked: unknown): string => (isOfOrder(asked) ? WHO_TELLS + ORDER_TELLS : WHO_TELLS);

/** The gateway has every documented path, so a 404 suggests that this is not the gateway. */
const placeOf = (statuses: readonly number[]): string => (statuses.includes(404) ? ' (is its URL right?)' : '');

/** How a request without TLS ended, as far as it is known. */
interface Outcome {
  readonly given: GatewayAnswer | undefined;
  readonly failures: readonly unknown[];
  readonly statuses: readonly number[];
}

/** How servers that speak only TLS treat a client that does not: some cut the connection, some answer with a page. */
function speaksTls({ given, failures, statuses }: Outcome, asked: unknown): boolean {
  if (originOf(asked)?.startsWith('http:') !== true) return false;
  if (given !== undefined) return given.status === 400 && PAGES.includes(mediaTypeOf(given.headers) ?? '');
  // If another client has kept an answer, HTTP is spoken there.
  return statuses.length === 0 && failures.some(isEndedByTls);
}

/** What may be said about a request whose outcome nobody knows. */
interface Unknown {
  readonly failures: readonly unknown[];
  /** About the answer, in words that cannot quote it. */
  readonly facts: readonly string[];
  readonly statuses: readonly number[];
}

const answeredBy = (answer: GatewayAnswer, cause: unknown): Unknown => ({
  failures: [cause],
  facts: answerTexts(answer),
  statuses: [answer.status],
});

/** The failure and the errors that it wraps. @throws if they make the outcome certain */
function unansweredIn(cause: unknown, request: unknown): Unknown {
  const wrapped = isError(cause) ? evidenceIn(cause) : undefined;
  if (wrapped !== undefined) throwWhatIsKnown(wrapped, cause);
  const failures = wrapped?.errors ?? [cause];
  const why = wrapped?.isAnswered === true ? undefined : whyNotSent(failures);
  if (why === undefined) return { failures, ...factsOf(wrapped) };
  const place = originOf(request) ?? addressIn(failures);
  const gateway = place === undefined ? 'The gateway' : `The gateway at ${place}`;
  throw new GatewayUnreachable('gateway_unreachable', `${gateway} cannot be reached: ${why} ${NOT_SENT}`, { cause });
}

/**
 * Throws what an error of another client, such as a merchant SDK, makes certain: an error of this package that it
 * wraps, or a refusal of the gateway, which is thrown as it came.
 */
function throwWhatIsKnown(evidence: FailureEvidence, cause: unknown): void {
  const { judged } = evidence;
  const known = judged.find(mayBeCarriedOut) ?? judged.find((error) => error instanceof GatewayUnreachable);
  if (known !== undefined) throw known;
  if (evidence.isMisdirected && evidence.ownAnswer !== undefined) throw notTheGateway(evidence.ownAnswer, cause);
  if (isRefusal(evidence)) throw cause;
}

/** A gateway code is a certain refusal only below 500; VALIDATION_ERROR, which others use too, only under 4xx. */
function isRefusal({ codes, msgCodes, statuses, ownAnswer }: FailureEvidence): boolean {
  if (ownAnswer !== undefined || statuses.length === 0 || codes.includes(UNKNOWN_ERROR)) return false;
  if (codes.some((code) => MSG_CODE.test(code))) return statuses.every((status) => status < 500);
  return msgCodes.includes(NOT_VALID) && statuses.every((status) => status >= 400 && status < 500);
}

/** Why nothing was sent, as the end of a sentence; undefined if that is not certain. */
function whyNotSent(failures: readonly unknown[]): string | undefined {
  const code = firstCodeOf(failures);
  if (code === NO_URL) return `${code}, its URL has to begin with http:// or https://; ${IS_IT_SET}`;
  if (code === NO_TLS) return `${code}, ${SPEAKS_NO_TLS}`;
  const isOfNone = NO_CONNECTION.includes(code) || failures.some((failure) => isOfConnecting(failure));
  if (isOfNone) return `${code ?? 'there was no connection'}.`;
  if (failures.some(isBadPort)) return 'fetch never asks that port ("bad port").';
  return NEVER_FETCHED.find(({ says }) => failures.flatMap(textsOf).some((text) => says.test(text)))?.why;
}

const firstCodeOf = (failures: readonly unknown[]): string | undefined =>
  failures.map(systemCodeOf).find((code) => code !== undefined);

/** A parser quotes what it read, which may be anyone's page; what was read must not be logged at all. */
const isShown = (cause: unknown, given: GatewayAnswer): boolean =>
  given === cause || (isError(cause) && !isOfParser(cause));

const isOfParser = (failure: unknown): boolean => isError(failure) && failure.name === 'SyntaxError';

/** Only of the platform's TypeErrors; what they quote is not repeated. */
function textsOf(cause: unknown): readonly string[] {
  if (!isError(cause) || cause.name !== 'TypeError') return [];
  return isError(cause.cause) ? [cause.cause.message] : [cause.message];
}

/** The system names the call that failed: if that was `connect`, nothing was sent. */
function isOfConnecting(error: unknown, depth = 0): boolean {
  if (!isError(error) || depth > MAX_DEPTH) return false;
  const { syscall, errors, cause } = error as ConnectionFailure;
  // One error for each address of the name.
  if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => isOfConnecting(each, depth + 1));
  return syscall === 'connect' || error.message === ENDED_IN_HANDSHAKE || isOfConnecting(cause, depth + 1);
}

interface ConnectionFailure {
  readonly syscall?: unknown;
  readonly errors?: unknown;
  readonly cause?: unknown;
}

/** Errors do not count, even those with a status: they come from many libraries and mean many things. */
function isAnswer(value: unknown): value is GatewayAnswer {
  if (typeof value !== 'object' || value === null || isError(value)) return false;
  return 'status' in value && typeof value.status === 'number';
}

type Told = Pick<FailureEvidence, 'statuses' | 'codes' | 'msgCodes'>;

/** From what an SDK kept of the answer. */
function factsOf({ statuses, codes, msgCodes }: Told = { statuses: [], codes: [], msgCodes: [] }) {
  const code = [...codes.filter((one) => MSG_CODE.test(one)), ...msgCodes.filter(isShownCode)];
  return { facts: [...statuses.slice(0, 1).map((one) => `status ${one}`), ...code.slice(0, 1)], statuses };
}

/**
 * Here and below, only texts that cannot quote the request. Fetch rejects with the signal's reason itself; a timeout's
 * reason is recognized by its name.
 */
function endTexts(failures: readonly unknown[], signal: AbortSignal | undefined): readonly string[] {
  if (signal?.aborted === true && failures.includes(signal.reason) && !isTimeout(signal.reason)) {
    return [`the caller aborted it (${abortReason(signal.reason)})`];
  }
  const code = firstCodeOf(failures);
  return code === undefined ? (failures.map(failureTexts).find((texts) => texts.length > 0) ?? []) : [code];
}

const isTimeout = (failure: unknown): boolean => isError(failure) && failure.name === 'TimeoutError';

function failureTexts(cause: unknown): readonly string[] {
  if (!isError(cause)) return msgCodeOf(cause);
  if (isRedirect(cause)) return ['a redirect'];
  if (isUnexplained(cause)) return [UNEXPLAINED];
  const text = Object.hasOwn(NAMES, cause.name) ? NAMES[cause.name] : undefined;
  return text === undefined ? [] : [text];
}

function msgCodeOf(body: unknown): readonly string[] {
  const code = typeof body === 'object' && body !== null && 'msgCode' in body ? body.msgCode : undefined;
  return typeof code === 'string' && isShownCode(code) ? [code] : [];
}

const isShownCode = (code: string): boolean => MSG_CODE.test(code) || CODE_IN_CAPITALS.test(code);

/** Fetch refuses to follow a redirect with this text, and gives neither code nor status. */
function isRedirect(error: Error): boolean {
  return isError(error.cause) && error.cause.message === 'unexpected redirect';
}
