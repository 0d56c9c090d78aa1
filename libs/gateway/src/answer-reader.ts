import { isUtf8 } from 'node:buffer';
import { type Instant, parseHttpDate } from '#libs/clock';
import { ENCODED, headerOf } from '#libs/outbound';
import { GatewayFailure, type NoAnswerReason } from '#libs/session';
import { classifyFailure } from './failure-rules.js';
import { type AnswerBody, type AnswerMarks, type GatewayAnswer, safeMark } from './gateway-answer.js';
import { parseRetryAfterMs } from './retry-after.js';

/** A successful answer to the create-session call, still sealed. */
export interface SealedSession {
  readonly jwe: string;
  readonly marks: AnswerMarks;
  readonly gatewayDate?: Instant;
}

/** Enough to tell what an answer begins with. */
const MAX_START_BYTES = 256;

interface BodyReading {
  readonly fields: Readonly<Record<string, unknown>>;
  /** What to say when the session is missing. */
  readonly lack: string;
  readonly instead?: NoAnswerReason;
}

/**
 * Reads the answer to the create-session call: `{"jwe": …}` under a 2xx status, whatever its media type, is a session;
 * everything else is a failure, even under HTTP 200 (interface description, "Errors"). A jwe under another status is a
 * failure too: a gateway that reports an error has not said that the session in it is valid.
 * @throws GatewayFailure classified, with the gateway's code, status, request id and Retry-After
 */
export function readAnswer(answer: GatewayAnswer): SealedSession {
  const reading = readBody(answer);
  const { fields } = reading;
  const jwe = fields['jwe'];
  if (!isSuccess(answer.httpStatus) || typeof jwe !== 'string' || jwe === '') throw failureOf(answer, reading);
  const gatewayDate = dateOf(answer);
  return { jwe, marks: marksOf(answer, fields), ...(gatewayDate === undefined ? {} : { gatewayDate }) };
}

/**
 * Reads the answer to a helper request: text, unless the status or an error body says that it failed.
 * @throws GatewayFailure classified
 */
export function readText(answer: GatewayAnswer): string {
  const reading = readBody(answer);
  const text = textOf(answer.body);
  const isText = text !== undefined && msgTypeOf(reading.fields) === undefined && reading.instead !== 'html_page';
  if (!isSuccess(answer.httpStatus) || !isText) throw failureOf(answer, reading);
  return text;
}

/** Whether the answer is an HTML page, whoever sent it. */
export const isHtmlPage = (answer: GatewayAnswer): boolean => readBody(answer).instead === 'html_page';

/** Whether a broker or an egress of ours answers: by problems of its types or, to a create call, in the egress's name. */
export function isOurs(answer: GatewayAnswer): boolean {
  const { type, serviceId } = readBody(answer).fields;
  return serviceId === 'session-egress' || (typeof type === 'string' && type.startsWith('urn:session-broker:problem:'));
}

const isSuccess = (httpStatus: number): boolean => httpStatus >= 200 && httpStatus < 300;

function failureOf(answer: GatewayAnswer, { fields, lack, instead }: BodyReading): GatewayFailure {
  const msgCode = safeMark(fields['msgCode']);
  const { httpStatus } = answer;
  const verdict = classifyFailure({ httpStatus, msgCode, msgType: msgTypeOf(fields), instead, lack });
  const retryAfter = headerOf(answer.headers, 'retry-after');
  const retryAfterMs =
    retryAfter === undefined ? undefined : parseRetryAfterMs(retryAfter, dateOf(answer) ?? answer.receivedAt);
  return new GatewayFailure({
    ...verdict,
    ...marksOf(answer, fields),
    ...(msgCode === undefined ? {} : { msgCode }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function marksOf({ httpStatus, headers }: GatewayAnswer, fields: BodyReading['fields']): AnswerMarks {
  const requestId = safeMark(headerOf(headers, 'x-request_id')) ?? safeMark(fields['requestId']);
  return { httpStatus, ...(requestId === undefined ? {} : { requestId }) };
}

/** The gateway's clock according to the answer; undefined if it does not say. */
export function dateOf({ headers }: Pick<GatewayAnswer, 'headers'>): Instant | undefined {
  const date = headerOf(headers, 'date');
  return date === undefined ? undefined : parseHttpDate(date);
}

function msgTypeOf({ msgType }: BodyReading['fields']): 'ERROR' | 'VALIDATION_ERROR' | undefined {
  return msgType === 'ERROR' || msgType === 'VALIDATION_ERROR' ? msgType : undefined;
}

function readBody(answer: GatewayAnswer): BodyReading {
  const { body } = answer;
  if (body.kind === 'refused') {
    const lack = body.reason === 'too_large' ? 'the answer is too long; it was not read to its end' : ENCODED;
    return { fields: {}, lack, ...(saysHtml(answer) ? { instead: 'html_page' } : {}) };
  }
  const value = parseJson(body.bytes);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { fields: value as BodyReading['fields'], lack: 'the answer has neither a jwe nor an error code' };
  }
  const instead = value === undefined ? insteadOfJson(answer, body.bytes) : undefined;
  return { fields: {}, lack: 'the answer is not a JSON object', ...(instead === undefined ? {} : { instead }) };
}

/** A page is recognized by its media type, or by its first character: no JSON text begins with `<`. */
function insteadOfJson(answer: GatewayAnswer, bytes: Uint8Array): NoAnswerReason | undefined {
  const start = new TextDecoder().decode(bytes.subarray(0, MAX_START_BYTES)).trimStart();
  if (start === '' && bytes.length <= MAX_START_BYTES) return 'empty_answer';
  return saysHtml(answer) || start.startsWith('<') ? 'html_page' : undefined;
}

const saysHtml = ({ headers }: GatewayAnswer): boolean =>
  /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headerOf(headers, 'content-type') ?? '');

function textOf(body: AnswerBody): string | undefined {
  if (body.kind === 'refused' || !isUtf8(body.bytes)) return undefined;
  return new TextDecoder().decode(body.bytes);
}

/** The parser's own error is dropped, as it quotes the text. Deep nesting is no danger: V8 parses without recursion. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = textOf({ kind: 'complete', bytes });
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
