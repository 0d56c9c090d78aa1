import { orAborted, within } from './deadline.js';
import { CallAborted, GatewayRefused, SessionRejected } from './errors.js';
import { isJsonObject, type JsonObject, parsedJson, readStart } from './json.js';
import { invalid, type Settings } from './options.js';
import { answerLost, deadSessionCode, type GatewayAnswer, UNKNOWN_ERROR } from './payment-outcome.js';
import { isOfAnEgress } from './problem.js';
import { seal } from './sealing.js';
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
  const members = sealed ?? json;
  if (!isJsonObject(members) || (sealed !== undefined && json !== undefined)) {
    throw invalid('Give one object to send, as json or as sealed');
  }
  // Written now: a repetition sends the same, whatever becomes of the object.
  const text = JSON.stringify(members, (name, value: unknown) => {
    // JSON would say null of it.
    if (typeof value === 'number' && !Number.isFinite(value)) throw invalid(`${name} is no number: ${value}`);
    return value;
  });
  const url = gateway.url + path;
  return async (session) => {
    const body = sealed === undefined ? text : await seal(session.serverPublic, text);
    const headers = headersOf(session, sealed === undefined ? 'application/json' : 'text/plain');
    return within(time, { ms: gateway.timeoutMs, parents: [signal] }, async ({ signal: end }) => {
      let about: GatewayAnswer | { readonly url: string } = { url };
      try {
        const request = { method: 'POST', headers, body, redirect: 'manual', signal: end } as const;
        const answer = await orAborted(gateway.fetch(url, request), end);
        const answered = (about = { status: answer.status, headers: answer.headers, url });
        const { text: read, isWhole } = await readStart(answer.body, end, MAX_ANSWER_OCTETS);
        return judged(isWhole ? parsedJson(read) : undefined, answered, sealed !== undefined);
      } catch (error) {
        if (!end.aborted || error !== end.reason) return answerLost(error, about);
        // Our own reasons for an end say nothing of a payment that is on its way: it is named as the platform would.
        const name = error instanceof CallAborted ? 'AbortError' : 'TimeoutError';
        return answerLost(new DOMException('The wait for the gateway ended', name), about);
      }
    });
  };
}

function headersOf({ deviceId, refreshToken }: Session, type: string): Record<string, string> {
  const session = { 'x-api_version': 'V1', 'x-device_id': deviceId };
  const refresh: Record<string, string> = refreshToken === undefined ? {} : { 'x-refresh_token': refreshToken };
  return { accept: 'application/json', 'content-type': type, ...session, ...refresh };
}

/** @returns an answer of the operation, or `{jwe}` with one */
function judged(document: unknown, answer: GatewayAnswer, isSealed: boolean): JsonObject {
  const { status } = answer;
  const said = isJsonObject(document) && !isOfAnEgress(document) ? document : {};
  const { jwe, msgCode } = said;
  if (isSuccess(status) && isText(jwe)) return said;
  const dead = deadSessionCode({ ...answer, data: document });
  if (dead !== undefined) throw new SessionRejected(dead);
  if (isRefusal(msgCode, status)) throw new GatewayRefused(msgCode, status, said);
  if (isSuccess(status) && !isSealed && said === document && (msgCode ?? '') === '') return said;
  return answerLost(document, answer);
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
/** Under 5xx, a code does not say that nothing was carried out. */
const isRefusal = (code: unknown, status: number): boolean => isText(code) && code !== UNKNOWN_ERROR && status < 500;
