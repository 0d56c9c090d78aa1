import { orAborted, within } from './deadline.js';
import {
  AnswerLost,
  BARE_UNAUTHORIZED,
  CallAborted,
  GatewayRefused,
  GatewayUnreachable,
  SessionBrokerError,
  SessionRejected,
} from './errors.js';
import { type FetchAnswer, hadNoConnection, readStart, systemCodeIn } from './fetch.js';
import { isJsonObject, isText, type JsonObject, parsedJson } from './json.js';
import { seal } from './jwe.js';
import { invalid, type Settings } from './options.js';
import { isOfAnEgress, isProblemOfOurs } from './problem.js';
import type { Session } from './session.js';

/** What is sent to the gateway: one of the two. */
export interface GatewayRequest {
  /** Sent in clear, as for the hosted page. */
  readonly json?: object | undefined;
  /** Sealed to the session's key, as for a refund. */
  readonly sealed?: object | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** As the egress takes of a clear answer. The gateway's are a few kilobytes. */
const MAX_ANSWER_OCTETS = 1_048_576;
const PATH = /^\/[^/\s?#\\][^\s#\\]*$/;
/** Published codes, whatever the status. Both spellings of the last are published. */
export const DEAD: ReadonlySet<unknown> = new Set([
  ...['b_expired_token', 'b_used_token', 'b_previous_auth_token_expired', 'b_unknown_device'],
  ...['b_session_doesnt_exist', 'b_session_doesnt_exists'],
]);
/** Access was revoked: only the bank can restore it, a newer session cannot. */
export const REVOKED = 'b_auth_token_expired';
/** The gateway's own code for not knowing what became of the request. */
const UNKNOWN_ERROR = 'b_unknown_error';
/** Codes that a message may repeat: the gateway's, and the one that others use, too. */
const MSG_CODE = /^(?:b_[a-z_]{1,64}|VALIDATION_ERROR)$/;
const MEDIA_TYPE = /^\s*([a-z]{1,20}\/[a-z0-9][a-z0-9.+-]{0,60})\s*(?:;|$)/i;
/** Statuses with which the broker and the egress refuse a request before doing anything else with it. */
const REFUSED_AT_ONCE: readonly number[] = [401, 404, 405, 415];
/** How the platform names the end that a signal made. */
const ABORTED: readonly unknown[] = ['AbortError', 'TimeoutError'];
const LATE: readonly unknown[] = ['TimeoutError', 'ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** A payment that is repeated under another id is a second payment. */
export const FIND_OUT =
  'Keep the merchantRequestId and send it under no other: lookUp, a notification or the bank tells what became of it';
const NOT_SENT = 'The request was not sent, and may be sent again with the same merchantRequestId';

/**
 * The reason for `SessionRejected` if an answer of the gateway means that the session is dead: its code, or `http_401`
 * if it gave none; undefined for any other answer. Revoked access is not a dead session, even under 401.
 * @param body the parsed body; only a `msgCode` of its own counts
 */
export function deadSessionCode(body: unknown, status = 200): string | undefined {
  const { msgCode } = isJsonObject(body) ? body : {};
  // An egress in the gateway's place would refuse a newer session as well, and each would cost a create call.
  if (msgCode === REVOKED || isProblemOfOurs(body) || isOfAnEgress(body)) return undefined;
  if (DEAD.has(msgCode)) return String(msgCode);
  return status === 401 ? BARE_UNAUTHORIZED : undefined;
}

/**
 * One request to the gateway, for whichever session there is: sealed to its key, sent once, and its answer judged.
 * @throws InvalidInput; the function rejects with SessionRejected, GatewayRefused, AnswerLost or GatewayUnreachable
 */
export function gatewayCall(
  path: string,
  { json, sealed, signal }: GatewayRequest,
  { gateway, time }: Settings,
): (session: Session) => Promise<JsonObject> {
  if (gateway === undefined) throw invalid("the option gateway is missing: { url } with the gateway's base URL");
  if (typeof path !== 'string' || !PATH.test(path)) throw invalid('the path must begin with one / and hold no #');
  const text = textOf(json, sealed);
  const url = gateway.url + path;
  const isSealed = sealed !== undefined;
  return async (session) => {
    const body = isSealed ? await seal(session.serverPublic, text) : text;
    const headers = headersOf(session, isSealed ? 'text/plain' : 'application/json');
    return within(time, { ms: gateway.timeoutMs, parents: [signal] }, async ({ signal: end }) => {
      let answer: FetchAnswer | undefined;
      try {
        answer = await orAborted(
          gateway.fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: end }),
          end,
        );
        const read = await readStart(answer.body, end, MAX_ANSWER_OCTETS);
        return judged(read.isWhole ? parsedJson(read.text) : undefined, { answer, url, isSealed });
      } catch (error) {
        return answerLost(end.aborted && error === end.reason ? named(error) : error, { url, answer });
      }
    });
  };
}

/** Written once: a repetition sends the same, whatever becomes of the object. */
function textOf(json: unknown, sealed: unknown): string {
  const members = sealed ?? json;
  if (!isJsonObject(members) || (sealed !== undefined && json !== undefined)) {
    throw invalid('Give one object to send, as json or as sealed');
  }
  return JSON.stringify(members, (name, value: unknown) => {
    // JSON would say null of it.
    if (typeof value === 'number' && !Number.isFinite(value)) throw invalid(`${name} is no number: ${value}`);
    return value;
  });
}

function headersOf({ deviceId, refreshToken }: Session, type: string): Record<string, string> {
  const session = { 'x-api_version': 'V1', 'x-device_id': deviceId };
  const refresh: Record<string, string> = refreshToken === undefined ? {} : { 'x-refresh_token': refreshToken };
  return { accept: 'application/json', 'content-type': type, ...session, ...refresh };
}

/** Our own reasons for an end say nothing of a payment that is on its way: it is named as the platform would. */
function named(end: unknown): DOMException {
  return new DOMException('The wait ended', end instanceof CallAborted ? 'AbortError' : 'TimeoutError');
}

/** @returns an answer of the operation, or `{jwe}` with one */
function judged(
  document: unknown,
  { answer, url, isSealed }: { readonly answer: FetchAnswer; readonly url: string; readonly isSealed: boolean },
): JsonObject {
  const isSuccess = answer.status >= 200 && answer.status < 300;
  const said = isJsonObject(document) ? document : {};
  if (isProblemOfOurs(said) || isOfAnEgress(said)) return notTheGateway(answer, url);
  if (isSuccess && isText(said['jwe'])) return said;
  demandNoRefusal(said, answer);
  const isInClear = !isSealed && said === document && (said['msgCode'] ?? '') === '';
  if (isSuccess && isInClear) return said;
  throw unusable(answer, said['msgCode']);
}

/** @throws SessionRejected, GatewayRefused */
function demandNoRefusal(said: JsonObject, { status }: FetchAnswer): void {
  const { msgCode } = said;
  const dead = deadSessionCode(said, status);
  if (dead !== undefined) throw new SessionRejected(dead);
  // Under 5xx, a code does not say that nothing was carried out.
  if (isText(msgCode) && msgCode !== UNKNOWN_ERROR && status < 500) throw new GatewayRefused(msgCode, status, said);
}

/** It is our own URL in the place of the gateway's. What is not refused at once, an egress may have passed on. */
function notTheGateway(answer: FetchAnswer, url: string): never {
  if (!REFUSED_AT_ONCE.includes(answer.status)) throw unusable(answer);
  const who = `It is a broker or an egress that answers${originOf(url)} (${factsOf(answer).join(', ')}), and no gateway`;
  throw new GatewayUnreachable('not_the_gateway', `${who}: the URL has to be the gateway's own. ${NOT_SENT}`);
}

function unusable(answer: FetchAnswer, msgCode?: unknown): AnswerLost {
  const code = typeof msgCode === 'string' && MSG_CODE.test(msgCode) ? [msgCode] : [];
  return new AnswerLost('answer_unusable', nobodyKnows([...factsOf(answer), ...code]));
}

/**
 * What became of a request to the gateway if this is what `fetch` threw: `.catch(answerLost)`. The request must not
 * follow redirects: after one, a refused connection says nothing about what was sent before.
 * @param exchange the answer that had begun, and the URL, of which the message names the origin
 * @throws GatewayUnreachable if there was no connection; AnswerLost otherwise; an error of this package unchanged
 */
export function answerLost(
  cause: unknown,
  { url, answer }: { readonly url?: string; readonly answer?: FetchAnswer | undefined } = {},
): never {
  if (cause instanceof SessionBrokerError) throw cause;
  const system = systemCodeIn(cause);
  if (answer === undefined && hadNoConnection(cause)) {
    const says = `The gateway${originOf(url)} cannot be reached: ${system ?? 'there was no connection'}. ${NOT_SENT}`;
    throw new GatewayUnreachable('gateway_unreachable', says, { cause });
  }
  const { name } = (cause ?? {}) as { readonly name?: unknown };
  const end = ABORTED.includes(name) ? String(name) : system;
  const facts = [...(answer === undefined ? [] : factsOf(answer)), ...(end === undefined ? [] : [end])];
  throw new AnswerLost(LATE.includes(end) ? 'answer_late' : 'answer_lost', nobodyKnows(facts), { cause });
}

/** @param facts only texts that cannot quote the request or the answer */
function nobodyKnows(facts: readonly string[]): string {
  const what = facts.length === 0 ? '' : `: ${facts.join(', ')}`;
  return `No answer of the gateway that can be used${what}. Nobody knows whether the bank has the request. ${FIND_OUT}`;
}

function factsOf({ status, headers }: FetchAnswer): readonly string[] {
  const type = MEDIA_TYPE.exec(headers.get('content-type') ?? '')?.[1];
  return [`status ${status}`, ...(type === undefined ? [] : [type.toLowerCase()])];
}

/** Scheme, host and port: the rest may hold a secret. */
function originOf(url: string | undefined): string {
  return url === undefined ? '' : ` at ${new URL(url).origin}`;
}
