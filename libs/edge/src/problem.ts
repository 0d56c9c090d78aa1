import type { IncomingMessage, ServerResponse } from 'node:http';
import { type BrokerError, type ErrorCode, errorCodes, type UnavailableReason, unavailableReasons } from '#libs/errors';
import { edgeHeaders, requestIdOf } from './edge-headers.js';

/**
 * Problem details (RFC 9457) with our own members: `code`, which is stable, `requestId`, and why there is no session;
 * `cause` for people.
 */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly reason?: UnavailableReason;
  readonly detail?: string;
  readonly cause?: string;
  readonly requestId: string;
}

const PROBLEM_TYPE_PREFIX = 'urn:session-broker:problem:';
export const PROBLEM_CONTENT_TYPE = 'application/problem+json; charset=utf-8';

/**
 * The only text that gets out is constant, or was written for a caller that can correct the request.
 * @param cause what is wrong, in a sentence for people
 */
export function problemOf(error: BrokerError, requestId: string, cause = error.publicCause): Problem {
  const { status, title } = errorCodes[error.code];
  const { reason, entry, publicDetail } = error;
  const own = entry.fault === 'caller' ? publicDetail : undefined;
  const detail = reason === undefined ? own : unavailableReasons[reason];
  return {
    type: `${PROBLEM_TYPE_PREFIX}${error.code}`,
    title,
    status,
    code: error.code,
    ...(reason === undefined ? {} : { reason }),
    ...(detail === undefined ? {} : { detail }),
    ...(cause === undefined ? {} : { cause }),
    requestId,
  };
}

/** Members besides those of the problem, for clients that know another form. */
export type MoreMembers = (error: BrokerError, requestId: string) => object;

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

/** A problem document as the last answer of a connection. */
export function refusal(error: BrokerError, requestId: string, more?: MoreMembers): Refusal {
  const problem = problemOf(error, requestId);
  const body = JSON.stringify({ ...problem, ...more?.(error, requestId) });
  const headers = {
    ...edgeHeaders(requestId),
    'content-type': PROBLEM_CONTENT_TYPE,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    // Does not wait for a body that nobody wants.
    connection: 'close',
  };
  return { status: problem.status, headers, body };
}

/** Refuses a request before any handler, and ends its connection. */
export function answerProblem(request: IncomingMessage, response: ServerResponse, error: BrokerError): void {
  const { status, headers, body } = refusal(error, requestIdOf(request));
  response.writeHead(status, headers).end(body);
}
