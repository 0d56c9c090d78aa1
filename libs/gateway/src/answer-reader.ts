import { isUtf8 } from 'node:buffer';
import { type Instant, parseHttpDate } from '#libs/clock';
import { GatewayFailure } from '#libs/session';
import { classifyFailure } from './failure-rules.js';
import { type AnswerBody, type AnswerMarks, type GatewayAnswer, headerOf, safeMark } from './gateway-answer.js';
import { parseRetryAfterMs } from './retry-after.js';

/** A successful answer to the create-session call, still sealed. */
export interface SealedSession {
  readonly jwe: string;
  readonly marks: AnswerMarks;
  readonly gatewayDate?: Instant;
}

interface BodyReading {
  readonly fields: Readonly<Record<string, unknown>>;
  /** What to say when the session is missing. */
  readonly lack: string;
}

/**
 * Reads the answer to the create-session call: `{"jwe": …}` under a 2xx status, whatever its media type, is a session;
 * everything else is a failure, also under HTTP 200 (interface description, "Errors"). A jwe under another status is a
 * failure too: a gateway that reports an error has not said that the session in it holds.
 * @throws GatewayFailure classified, with the gateway's code, status, request id and Retry-After
 */
export function readAnswer(answer: GatewayAnswer): SealedSession {
  const { fields, lack } = readBody(answer.body);
  const jwe = fields['jwe'];
  if (!isSuccess(answer.httpStatus) || typeof jwe !== 'string' || jwe === '') throw failureOf(answer, fields, lack);
  const gatewayDate = dateOf(answer);
  return { jwe, marks: marksOf(answer, fields), ...(gatewayDate === undefined ? {} : { gatewayDate }) };
}

/**
 * Reads the answer of a helper request: text, unless the status or an error body says that it failed.
 * @throws GatewayFailure classified
 */
export function readText(answer: GatewayAnswer): string {
  const { fields, lack } = readBody(answer.body);
  const text = textOf(answer.body);
  if (!isSuccess(answer.httpStatus) || text === undefined || msgTypeOf(fields) !== undefined) {
    throw failureOf(answer, fields, lack);
  }
  return text;
}

const isSuccess = (httpStatus: number): boolean => httpStatus >= 200 && httpStatus < 300;

function failureOf(answer: GatewayAnswer, fields: BodyReading['fields'], lack: string): GatewayFailure {
  const msgCode = safeMark(fields['msgCode']);
  const { httpStatus } = answer;
  const verdict = classifyFailure({ httpStatus, msgCode, msgType: msgTypeOf(fields), lack });
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

/** The gateway's clock as its answer shows it; undefined when it does not. */
export function dateOf({ headers }: Pick<GatewayAnswer, 'headers'>): Instant | undefined {
  const date = headerOf(headers, 'date');
  return date === undefined ? undefined : parseHttpDate(date);
}

function msgTypeOf({ msgType }: BodyReading['fields']): 'ERROR' | 'VALIDATION_ERROR' | undefined {
  return msgType === 'ERROR' || msgType === 'VALIDATION_ERROR' ? msgType : undefined;
}

function readBody(body: AnswerBody): BodyReading {
  if (body.kind === 'refused') {
    return body.reason === 'too_large'
      ? { fields: {}, lack: 'the answer is too long; it was not read to its end' }
      : { fields: {}, lack: 'the answer is compressed, although nothing but identity was accepted' };
  }
  const value = parseJson(body.bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { fields: {}, lack: 'the answer is not a JSON object' };
  }
  return { fields: value as BodyReading['fields'], lack: 'the answer has neither a jwe nor an error code' };
}

function textOf(body: AnswerBody): string | undefined {
  if (body.kind === 'refused' || !isUtf8(body.bytes)) return undefined;
  return new TextDecoder().decode(body.bytes);
}

/** The parser's own error is dropped: it quotes the text. Nesting is no danger, V8 parses without recursion. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = textOf({ kind: 'complete', bytes });
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
