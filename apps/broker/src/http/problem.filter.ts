import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { told } from '#libs/causes';
import { edgeHeaders, PROBLEM_CONTENT_TYPE, problemOf } from '#libs/edge';
import { BrokerError, type ErrorCode } from '#libs/errors';
import { SessionUnavailable } from '#libs/session';
import type { Logger } from '#libs/telemetry';
import { AuditTrail } from '../audit/audit-trail.js';
import { LOGGER } from '../platform/platform.js';
import { pathOf, RouteMethods } from './route-methods.js';

const MIN_RETRY_AFTER_S = 1;
/** How much is kept of what a caller without permission gives as a merchant. */
const MAX_NAME_LENGTH = 63;

/** The only place that turns an error into a response, and the only one that logs a failed request. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly routes: RouteMethods,
    private readonly audit: AuditTrail,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = this.routes.refine(toBrokerError(thrown), request);
    this.#log(error, request);
    if (error.code === 'unauthenticated' || error.code === 'forbidden') this.#audit(error, request);
    if (reply.sent || reply.raw.destroyed) return;
    const problem = problemOf(error, request.id, sentenceOf(error, request));
    reply.status(problem.status).headers(this.#headersFor(error, request));
    reply.header('content-type', PROBLEM_CONTENT_TYPE).send(JSON.stringify(problem));
  }

  #audit({ code }: BrokerError, request: FastifyRequest): void {
    const { merchant } = request.params as { merchant?: string };
    const action = `${request.method} ${request.routeOptions.url ?? ''}`;
    this.audit.refused({
      action,
      caller: request.caller?.name,
      merchant: merchant?.slice(0, MAX_NAME_LENGTH),
      reason: code,
      requestId: request.id,
    });
  }

  #headersFor(error: BrokerError, request: FastifyRequest): Record<string, string> {
    const headers: Record<string, string> = { 'cache-control': 'no-store' };
    const challenge = challengeOf(error, request);
    if (challenge !== undefined) headers['www-authenticate'] = challenge;
    if (error.code === 'method_not_allowed') headers['allow'] = this.routes.of(pathOf(request)).join(', ');
    if (error.entry.retryable && error.entry.status >= 429) {
      const seconds = Math.ceil((error.retryAfterMs ?? 0) / 1_000);
      headers['retry-after'] = String(Math.max(MIN_RETRY_AFTER_S, seconds));
    }
    return headers;
  }

  /**
   * A caller's mistakes are for the caller to log; here they are one debug line. Our own are errors, with their cause.
   */
  #log(error: BrokerError, request: FastifyRequest): void {
    const fields = {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url,
      caller: request.caller?.name,
      code: error.code,
    };
    if (error.entry.fault === 'programmer') this.logger.error({ ...fields, error }, 'request failed');
    else if (error.entry.status >= 500)
      this.logger.warn({ ...fields, reason: error.reason, detail: error.detail }, 'request not served');
    else this.logger.debug({ ...fields, detail: error.detail }, 'request refused');
  }
}

/** What is wrong, for people. */
function sentenceOf(error: BrokerError, { params }: FastifyRequest): string | undefined {
  if (!(error instanceof SessionUnavailable) || error.because === undefined) return error.publicCause;
  return told(error.because, (params as { merchant?: string }).merchant ?? '').text;
}

/**
 * RFC 6750 section 3: only a request with a token is told what was wrong; one without is merely shown how to
 * authenticate.
 */
function challengeOf({ code }: BrokerError, { headers: { authorization } }: FastifyRequest): string | undefined {
  const challenge = 'Bearer realm="session-broker"';
  if (code === 'unauthenticated')
    return authorization === undefined ? challenge : `${challenge}, error="invalid_token"`;
  if (code === 'forbidden' && authorization !== undefined) return `${challenge}, error="insufficient_scope"`;
  return undefined;
}

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
function toBrokerError(thrown: unknown): BrokerError {
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

/**
 * Answers what the router itself refuses, before any hook, such as a path that cannot be decoded, and what is thrown
 * outside of Nest.
 */
export function answerRouterError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(toBrokerError(error), request.id);
  reply.code(problem.status).headers({ ...edgeHeaders(request.id), 'cache-control': 'no-store' });
  reply.header('content-type', PROBLEM_CONTENT_TYPE).send(JSON.stringify(problem));
}
