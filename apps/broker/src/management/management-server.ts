import { fastify, type FastifyInstance } from 'fastify';
import { BrokerError } from '#libs/errors';
import type { Telemetry } from '#libs/telemetry';
import { answerClientError, edgeHeaders, JUDGED_HERE, requestIdOf } from '#libs/edge';
import { answerRouterError } from '../http/problem.filter.js';
import type { Readiness } from './replica-status.js';

const REQUEST_TIMEOUT_MS = 5_000;
/** How often requests are checked for timeouts: a timeout acts at most this late. */
const CHECK_EVERY_MS = 1_000;
const MAX_HEADER_BYTES = 8_192;

/**
 * The port that consumers never see. `/livez` depends on nothing but the event loop: if a liveness probe looked at the
 * store or the gateway, every replica would be restarted at once when one of them is down.
 * @param apiPort as configured, for those who ask here for what only the API answers
 */
export function createManagementServer(
  checkReadiness: () => Readiness,
  telemetry?: Telemetry,
  apiPort = 0,
): FastifyInstance {
  const server = fastify({
    logger: false,
    bodyLimit: 1_024,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      ...JUDGED_HERE,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
    },
    forceCloseConnections: true,
    genReqId: requestIdOf,
    clientErrorHandler: answerClientError,
    frameworkErrors: answerRouterError,
  });
  server.addHook('onRequest', (request, reply, done) => {
    // On the raw response, since a scrape and a stream are written without the framework.
    for (const [name, value] of Object.entries(edgeHeaders(request.id))) reply.raw.setHeader(name, value);
    done();
  });
  server.get('/livez', (_request, reply) => reply.header('cache-control', 'no-store').send({ alive: true }));
  server.get('/readyz', (_request, reply) => {
    const readiness = checkReadiness();
    return reply
      .code(readiness.ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(readiness);
  });
  if (telemetry !== undefined) {
    server.get('/metrics', (request, reply) => {
      reply.hijack();
      telemetry.scrape(request.raw, reply.raw);
    });
  }
  server.setNotFoundHandler(({ url }) => {
    throw notFound(url, apiPort);
  });
  server.setErrorHandler(answerRouterError);
  return server;
}

function notFound(url: string, apiPort: number): BrokerError {
  if (!url.startsWith('/v1/')) return new BrokerError('route_not_found');
  const where = apiPort === 0 ? 'another port' : `port ${apiPort}`;
  const publicDetail = `this is the management port of a broker; its API is on ${where}`;
  return new BrokerError('route_not_found', { publicDetail });
}
