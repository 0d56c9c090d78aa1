import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest, preParsingAsyncHookHandler } from 'fastify';
import type { HttpTls } from '#libs/configuration';
import { answerClientError, edgeHeaders, JUDGED_HERE, Places, requestIdOf, tlsOptions } from '#libs/edge';
import type { RequestSpan, Telemetry } from '#libs/telemetry';
import type { Authenticator } from '../auth/authenticator.service.js';
import { DOCS_PATH } from '../docs/api-decorators.js';
import { isDocumentation } from '../docs/documentation-pages.js';
import { boundBody, passOverEmptyBody } from './merchant-route.js';
import { answerRouterError } from './problem.filter.js';
import { pathOf, type RouteMethods } from './route-methods.js';

/** The pages bring their own scripts and styles from this origin; some of their styles are inline. */
const DOCS_CONTENT_SECURITY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";
const DOCS_HEADERS = {
  'content-security-policy': DOCS_CONTENT_SECURITY,
  'cross-origin-opener-policy': 'same-origin',
} as const;

const REQUEST_TIMEOUT_MS = 10_000;
/**
 * Longer than the idle time of common clients and balancers, so that they close first and never hit a closing socket.
 */
const KEEP_ALIVE_MS = 75_000;
/** How often requests are checked for timeouts: a timeout acts at most this late. */
const CHECK_EVERY_MS = 1_000;
const MAX_HEADER_BYTES = 8_192;
/** A JWE of a payload of 64 KiB, and the JSON around it. Routes that take text allow more. */
const MAX_BODY_BYTES = 135_168;
/** Their product with the longest body, 400 KiB of an escaped text, is 50 MiB. */
const MAX_LARGE_BODIES = 128;
const SMALL_BODY_BYTES = 4_096;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export function createHttpAdapter(tls: HttpTls | undefined): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: 100 },
    forceCloseConnections: 'idle',
    // It would be no problem document; what comes while the broker stops is answered like anything else.
    return503OnClosing: false,
    genReqId: requestIdOf,
    clientErrorHandler: answerClientError,
    frameworkErrors: answerRouterError,
    serverFactory: (handler: Handler) => createHttpServer(tls, handler),
  });
}

function createHttpServer(tls: HttpTls | undefined, handler: Handler): Server {
  const limits = {
    ...JUDGED_HERE,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  };
  const server = tls === undefined ? createServer(limits) : createTlsServer({ ...limits, ...tlsOptions(tls) });
  return server.on('request', handler);
}

/**
 * What applies to every request before its body is read: an id, protective headers, and a known caller. To be called
 * before there are any routes: hooks apply only to those added after them.
 */
export function guardEdge(server: FastifyInstance, authenticator: Authenticator, routes: RouteMethods): void {
  // JSON is the only type of body that is read; anything else is answered 415.
  server.removeContentTypeParser('text/plain');
  server.addHook('onRoute', (route) => {
    if (route.url.includes('*') || route.url.startsWith(DOCS_PATH)) return;
    boundBody(route);
    routes.note(route);
  });
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(edgeHeaders(request.id));
    passOverEmptyBody(request);
    if (isDocumentation(pathOf(request))) reply.headers(DOCS_HEADERS);
    else request.caller = await authenticator.authenticate(request.raw);
  });
  server.addHook('preParsing', boundLargeBodies(new Places(MAX_LARGE_BODIES)));
}

/** Once the caller is known, and before the body is read: a large one needs a place, of which each caller has a share. */
function boundLargeBodies(places: Places): preParsingAsyncHookHandler {
  return (request, reply) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (coding !== undefined || Number(length) > SMALL_BODY_BYTES) {
      reply.raw.once('close', places.take(request.caller?.name ?? ''));
    }
    return Promise.resolve(undefined);
  };
}

const MS_PER_S = 1_000;

/** Streams last half an hour: as spans and durations, they would say nothing about how the broker is doing. */
const isStream = ({ routeOptions: { url } }: FastifyRequest): boolean => url?.endsWith('/events') === true;

/** Counts and traces the requests that the framework serves. */
export function observeRequests(server: FastifyInstance, telemetry: Telemetry | undefined): void {
  if (telemetry === undefined) return;
  const { traces, requestSeconds } = telemetry;
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  server.addHook('onRequest', (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (traces === undefined || url === undefined || isStream(request)) return done();
    const span = traces.startRequest({ method: request.method, route: url, headers: request.headers });
    spans.set(request, span);
    span.within(done);
  });
  // A body is read through socket events, which have no link to the request: from here on, its span is current again.
  server.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (span === undefined) done();
    else span.within(done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request;
    const answered = { method, route: routeOptions.url ?? '', status: reply.statusCode };
    if (!isStream(request)) requestSeconds(reply.elapsedTime / MS_PER_S, answered);
    spans.get(request)?.end(reply.statusCode);
    done();
  });
}
