import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayOperation } from './operation.js';
import type { Exchange, Stage } from './play.js';
import { GatewayRefusal } from './refusal.js';

/** The gateway's own routes. Each writes its answer itself, because faults reach down to the socket. */
export function gatewayRoutes(app: FastifyInstance, stage: Stage, operations: readonly GatewayOperation[]): void {
  for (const operation of operations) {
    app.route({
      method: 'POST',
      url: operation.path,
      handler: async (request, reply) => {
        reply.hijack();
        await stage.play(operation, exchangeOf(request, reply));
      },
      errorHandler: (error, request, reply) => {
        reply.hijack();
        stage.refuseUnread(operation, exchangeOf(request, reply), unreadRefusal(error));
      },
    });
    // Lets a client check that the address is right without creating anything.
    app.get(operation.path, (request, reply) => {
      reply.hijack();
      reply.raw.setHeader('allow', 'POST');
      stage.refuse(exchangeOf(request, reply), new GatewayRefusal('b_invalid_request', { status: 405 }));
    });
  }
}

/** To anything else, the gateway answers that it has no such service. */
export function answerUnknownService(stage: Stage): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    reply.hijack();
    stage.refuse(exchangeOf(request, reply), new GatewayRefusal('b_service_unavailable'));
  };
}

function exchangeOf(request: FastifyRequest, reply: FastifyReply): Exchange {
  const { headers, query, body } = request;
  return { request: { headers, query, body }, response: reply.raw, requestId: requestIdOf(headers['x-request_id']) };
}

/** The caller's own id if it is fit to be returned in a header and printed, otherwise a new one. */
function requestIdOf(given: unknown): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

/** What is not JSON has its own code; types and sizes that are not accepted have none. */
function unreadRefusal(error: unknown): GatewayRefusal {
  const { statusCode: status, code } = error as { readonly statusCode?: unknown; readonly code?: unknown };
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY' || error instanceof SyntaxError)
    return new GatewayRefusal('b_error_parse_json');
  const isCallersFault = typeof status === 'number' && status >= 400 && status < 500;
  return new GatewayRefusal('b_invalid_request', { status: isCallersFault ? status : 400 });
}
