import { type BrokerError, type ErrorCode, errorCodes } from '#libs/errors';

/** Problem details (RFC 9457) with two members of ours: `code`, stable, and `requestId`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail?: string;
  readonly requestId: string;
}

const PROBLEM_TYPE_PREFIX = 'urn:session-broker:problem:';
export const PROBLEM_CONTENT_TYPE = 'application/problem+json; charset=utf-8';

/** The only text that gets out is constant, or was written for a caller that can correct the request. */
export function problemOf(error: BrokerError, requestId: string): Problem {
  const { status, title, fault } = errorCodes[error.code];
  const mayCarryDetail = fault === 'caller' && error.publicDetail !== undefined;
  return {
    type: `${PROBLEM_TYPE_PREFIX}${error.code}`,
    title,
    status,
    code: error.code,
    ...(mayCarryDetail ? { detail: error.publicDetail } : {}),
    requestId,
  };
}
