import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { told } from '#libs/causes';
import type { BrokerError } from '#libs/errors';
import { SessionUnavailable } from '#libs/session';
import type { Logger } from '#libs/telemetry';
import { AuditTrail } from '../audit/audit-trail.js';
import { callerOf } from '../auth/caller.js';
import { LOGGER } from '../platform/tokens.js';
import { PROBLEM_CONTENT_TYPE, problemOf } from '#libs/edge';
import { RouteMethods } from './route-methods.js';
import { toBrokerError } from './to-broker-error.js';

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
      caller: callerOf(request)?.name,
      merchant: merchant?.slice(0, MAX_NAME_LENGTH),
      reason: code,
      requestId: request.id,
    });
  }

  #headersFor(error: BrokerError, request: FastifyRequest): Record<string, string> {
    const headers: Record<string, string> = { 'cache-control': 'no-store' };
    const challenge = challengeOf(error, request);
    if (challenge !== undefined) headers['www-authenticate'] = challenge;
    if (error.code === 'method_not_allowed') headers['allow'] = this.routes.allowed(request).join(', ');
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
      caller: callerOf(request)?.name,
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
