import type { FastifyReply, FastifyRequest } from 'fastify';
import { edgeHeaders, PROBLEM_CONTENT_TYPE, problemOf } from '#libs/edge';
import { toBrokerError } from './to-broker-error.js';

/**
 * Answers what the router itself refuses, before any hook: a path that cannot be decoded, or one with a part that is
 * too long.
 */
export function answerRouterError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(toBrokerError(error), request.id);
  reply.code(problem.status).headers({ ...edgeHeaders(request.id), 'cache-control': 'no-store' });
  reply.header('content-type', PROBLEM_CONTENT_TYPE).send(JSON.stringify(problem));
}
