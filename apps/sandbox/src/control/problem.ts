import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';

/** Problem details (RFC 9457) with the broker's codes. */
export async function answerProblem(error: unknown, _request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const problem = error instanceof BrokerError ? error : asBrokerError(error);
  const { status, title } = problem.entry;
  await reply
    .code(status)
    .type('application/problem+json')
    .send({
      title,
      status,
      code: problem.code,
      ...(problem.publicDetail === undefined ? {} : { detail: problem.publicDetail }),
    });
}

export async function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await answerProblem(notFound('docs/sandbox.md lists the control routes'), request, reply);
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
