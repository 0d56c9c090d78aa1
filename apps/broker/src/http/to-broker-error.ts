import { HttpException } from '@nestjs/common';
import { BrokerError, type ErrorCode } from '#libs/errors';

/** Our codes for the statuses that Fastify and Nest report. */
const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'route_not_found',
  405: 'method_not_allowed',
  406: 'invalid_request',
  408: 'request_timeout',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  431: 'headers_too_large',
  503: 'shutting_down',
};

/** What the caller should correct; never contains a character of what was sent. */
const detailOfCode: Readonly<Record<string, string>> = {
  FST_ERR_CTP_EMPTY_JSON_BODY: 'the body is empty, and is to be JSON',
  FST_ERR_CTP_INVALID_JSON_BODY: 'the body is not JSON',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body is not as long as Content-Length says',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'send Content-Type: application/json',
  FST_ERR_BAD_URL: 'the path cannot be decoded',
};

/** Gives one of our codes to whatever was thrown while a request was served. Framework texts never reach the caller. */
export function toBrokerError(thrown: unknown): BrokerError {
  if (thrown instanceof BrokerError) return thrown;
  const code = codeOfStatus[statusOf(thrown) ?? 500] ?? 'internal_error';
  const publicDetail = detailOf(thrown);
  return new BrokerError(code, { cause: thrown, ...(publicDetail === undefined ? {} : { publicDetail }) });
}

function detailOf(thrown: unknown): string | undefined {
  // Nest wraps a Fastify error as the cause of its own.
  const error = thrown instanceof HttpException ? thrown.cause : thrown;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && Object.hasOwn(detailOfCode, code) ? detailOfCode[code] : undefined;
}

function statusOf(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  if (!(thrown instanceof Error) || !('statusCode' in thrown)) return undefined;
  return typeof thrown.statusCode === 'number' ? thrown.statusCode : undefined;
}
