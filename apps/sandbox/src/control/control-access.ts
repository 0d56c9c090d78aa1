import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';

/** Lets in the holder of the token or, if none is set, everyone on the same machine. */
export function demandControlAccess(token: string | undefined): (request: FastifyRequest) => Promise<void> {
  const due = token === undefined ? undefined : digest(`Bearer ${token}`);
  return (request) => {
    if (due === undefined) return isLoopback(request.ip) ? Promise.resolve() : Promise.reject(elsewhere());
    const isDue = timingSafeEqual(digest(request.headers.authorization ?? ''), due);
    return isDue ? Promise.resolve() : Promise.reject(new BrokerError('unauthenticated'));
  };
}

function elsewhere(): BrokerError {
  return new BrokerError('forbidden', {
    publicDetail: 'control requests are taken from loopback addresses only, unless SANDBOX_CONTROL_TOKEN is set',
  });
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

/** Of fixed length, whatever was sent, as the comparison requires. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Problem details (RFC 9457) with the broker's codes. */
export async function answerProblem(error: unknown, _request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const problem = error instanceof BrokerError ? error : asBrokerError(error);
  const { status, title } = problem.entry;
  const detail = problem.publicDetail === undefined ? {} : { detail: problem.publicDetail };
  await reply
    .code(status)
    .type('application/problem+json')
    .send({ title, status, code: problem.code, ...detail });
}

export function notFound(publicDetail: string): BrokerError {
  return new BrokerError('route_not_found', { publicDetail });
}

/** What Fastify refuses before a route sees it. Its messages are only about the form of the request. */
function asBrokerError(error: unknown): BrokerError {
  const { statusCode, message } = error as { readonly statusCode?: number; readonly message?: string };
  if (statusCode === 413) return new BrokerError('payload_too_large');
  if (statusCode === 415) return new BrokerError('unsupported_media_type', { publicDetail: 'send application/json' });
  if (statusCode !== undefined && statusCode < 500) {
    return new BrokerError('invalid_request', { publicDetail: String(message).slice(0, 200) });
  }
  return new BrokerError('internal_error', { cause: error });
}
