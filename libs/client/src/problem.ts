import {
  BrokerUnavailable,
  type ErrorFacts,
  Forbidden,
  NO_MERCHANT,
  ProtocolError,
  RequestRefused,
  type SessionBrokerError,
  Unauthenticated,
} from './errors.js';
import type { FetchAnswer } from './fetch.js';
import { isJsonObject, type JsonObject } from './json.js';

/** How the egress names itself where the gateway would name one of its services. */
const EGRESS = 'session-egress';
/** Marks a problem document as coming from this product, the broker or the egress. */
const PROBLEM_TYPE = 'urn:session-broker:problem:';
const NO_RESOURCE = 'route_not_found';

const CODE = /^[a-z][a-z0-9_]{0,63}$/;
const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,64}$/;
/** Statuses of the broker, or of a proxy in front of it, after which the same request may succeed. */
const PASSING: readonly number[] = [408, 425, 429];
const MAX_RETRY_AFTER_MS = 3_600_000;
/** Nothing that would break a line of a log. */
const TEXT = /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u;
const MAX_TEXT_LENGTH = 300;

const AN_EGRESS =
  "It is an egress that answers there: url is the broker's, and payments go to the egress without this client";
const NO_AUTH = 'The broker asks for a credential, and no auth was given (401)';
const REFUSED = 'The broker does not accept the credential (401)';
// The broker does not let a stranger find out whether a merchant exists.
const FORBIDDEN = 'The broker does not allow this caller to do that, or there is no such merchant (403)';
const NOT_KNOWN = 'The broker does not know this merchant (404): is its id right, or was it removed?';
const NO_PATH = 'The broker has no such path (404)';
const WHICH_PATH = 'is the path of the URL right, which ends before /v1?';

export function isOfAnEgress(document: unknown): boolean {
  return isJsonObject(document) && document['serviceId'] === EGRESS;
}

export function isProblemOfOurs(document: unknown): document is JsonObject {
  return isJsonObject(document) && typeof document['type'] === 'string' && document['type'].startsWith(PROBLEM_TYPE);
}

/**
 * The error for an answer. Only the texts of the broker's own problems are included; anything else that answers there
 * could quote the request with its credential.
 */
export function errorOf(answer: FetchAnswer, problem: unknown, hadCredential: boolean): SessionBrokerError {
  const { status } = answer;
  const brokerCause = textsOf(problem, ['cause'])[0];
  const facts: ErrorFacts = { status, requestId: requestIdOf(answer), retryAfterMs: retryAfterMs(answer), brokerCause };
  if (isOfAnEgress(problem)) return new ProtocolError('not_the_broker', AN_EGRESS, facts);
  const code = codeOf(problem) ?? `http_${status}`;
  const own = status === 401 && !hadCredential ? NO_AUTH : OWN_WORDS[status];
  if (isProblemOfOurs(problem)) return new (kindOf(status))(code, wordsOf(problem, { status, code, own }), facts);
  if (status === 404 || status === 405) {
    return new ProtocolError('not_the_broker', `This ${status} is not the broker's: is the URL right?`, facts);
  }
  if (status < 400) {
    return new ProtocolError('status_unexpected', `The broker never answers ${status}: is the URL right?`, facts);
  }
  // A proxy in front of the broker may answer with some of these too, even if the URL is right.
  const says = `This ${status} is not the broker's, but that of a proxy or of somebody else: is the URL right?`;
  return new (kindOf(status))(code, says, facts);
}

const OWN_WORDS: Readonly<Record<number, string>> = { 401: REFUSED, 403: FORBIDDEN };

function kindOf(status: number): new (code: string, message: string, facts: ErrorFacts) => SessionBrokerError {
  if (status === 401) return Unauthenticated;
  if (status === 403) return Forbidden;
  return status >= 500 || PASSING.includes(status) ? BrokerUnavailable : RequestRefused;
}

interface Said {
  readonly status: number;
  readonly code: string;
  readonly own: string | undefined;
}

function wordsOf(problem: JsonObject, { status, code, own }: Said): string {
  if (code === NO_MERCHANT) return NOT_KNOWN;
  // The detail says whose port or path it is, if the broker can tell.
  if (code === NO_RESOURCE) return `${NO_PATH}: ${textsOf(problem, ['detail'])[0] ?? WHICH_PATH}`;
  const says = own ?? `The broker answered ${status} (${code})`;
  const details = textsOf(problem, ['detail', 'cause']);
  const texts = details.length > 0 ? details : textsOf(problem, ['title']);
  return texts.length > 0 ? `${says}: ${texts.join('; ')}` : says;
}

function requestIdOf({ headers }: FetchAnswer): string | undefined {
  const id = headers.get('x-request-id');
  return id !== null && REQUEST_ID.test(id) ? id : undefined;
}

/** How long the answer may have lain in a cache (RFC 9111 section 5.1, whole seconds). */
export function ageMs({ headers }: FetchAnswer): number {
  const age = headers.get('age') ?? '';
  return /^\d{1,9}$/.test(age) ? (Number(age) + 1) * 1_000 : 0;
}

function textsOf(problem: unknown, members: readonly string[]): readonly string[] {
  const texts = isProblemOfOurs(problem) ? members.map((member) => problem[member]) : [];
  return texts
    .filter((text): text is string => typeof text === 'string' && TEXT.test(text))
    .map((text) => text.slice(0, MAX_TEXT_LENGTH));
}

function codeOf(problem: unknown): string | undefined {
  const code = isJsonObject(problem) ? problem['code'] : undefined;
  return typeof code === 'string' && CODE.test(code) ? code : undefined;
}

/** `Retry-After` as the broker sends it (RFC 9110 section 10.2.3), at most an hour. */
function retryAfterMs({ headers }: FetchAnswer): number | undefined {
  const seconds = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(seconds) ? Math.min(Number(seconds) * 1_000, MAX_RETRY_AFTER_MS) : undefined;
}
