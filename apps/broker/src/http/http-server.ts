import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest, preParsingAsyncHookHandler } from 'fastify';
import type { HttpTls } from '#libs/configuration';
import type { Authenticator } from '../auth/authenticator.service.js';
import { callerOf, setCaller } from '../auth/caller.js';
import { DOCS_PATH, isDocumentation } from '../docs/documentation-paths.js';
import { answerClientError, edgeHeaders, Places, requestIdOf, tlsOptions, wantBody } from '#libs/edge';
import { boundBody, passOverEmptyBody } from './route-body.js';
import { answerRouterError } from './router-error.js';
import { pathOf, type RouteMethods } from './route-methods.js';

/** The pages bring their own scripts and styles from this origin; some of their styles are inline. */
const DOCS_CONTENT_SECURITY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
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

/** The name under which Nest injects the app's HTTP server. */
export const HTTP_SERVER = Symbol('http server');

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** May answer a request before the framework sees it; returns false, with nothing written, to pass it on. */
export type EarlyAnswer = (request: IncomingMessage, response: ServerResponse) => boolean;

export function createHttpAdapter(tls: HttpTls | undefined): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: 100 },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    genReqId: requestIdOf,
    clientErrorHandler: answerClientError,
    frameworkErrors: answerRouterError,
    serverFactory: (handler: Handler) => createHttpServer(tls, handler),
  });
}

function createHttpServer(tls: HttpTls | undefined, handler: Handler): Server {
  const limits = {
    // Checked with the rest of a request, so that the answer is a problem document.
    requireHostHeader: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  };
  const server = tls === undefined ? createServer(limits) : createTlsServer({ ...limits, ...tlsOptions(tls) });
  return server.on('request', handler);
}

/** Tries `early` first; what it does not answer goes through the framework. */
export function answerFirst(server: Server, early: EarlyAnswer): void {
  const framework = server.listeners('request').at(-1) as Handler;
  server.off('request', framework).on('request', (request, response) => {
    if (!early(request, response)) framework(request, response);
  });
}

interface EdgeParts {
  readonly authenticator: Authenticator;
  readonly routes: RouteMethods;
}

/** What applies to every request before its body is read: an id, protective headers, and a known caller. */
export function guardEdge(server: FastifyInstance, parts: EdgeParts): void {
  server.addHook('onRoute', (route) => {
    if (route.url.includes('*') || route.url.startsWith(DOCS_PATH)) return;
    boundBody(route);
    parts.routes.note(route);
  });
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(edgeHeaders(request.id));
    passOverEmptyBody(request);
    if (isDocumentation(pathOf(request))) reply.headers(DOCS_HEADERS);
    else return identify(request, parts.authenticator, done);
    done();
  });
  server.addHook('preParsing', askForBody(new Places(MAX_LARGE_BODIES)));
}

/** Once the caller is known, and before the body is read: a large one needs a place, of which each caller has a share. */
function askForBody(places: Places): preParsingAsyncHookHandler {
  return (request, reply) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (coding !== undefined || Number(length) > SMALL_BODY_BYTES) {
      reply.raw.once('close', places.take(callerOf(request)?.name ?? ''));
    }
    wantBody(request.raw, reply.raw);
    return Promise.resolve(undefined);
  };
}

function identify(request: FastifyRequest, authenticator: Authenticator, done: (error?: Error) => void): void {
  const known = authenticator.known(request.raw);
  if (known !== undefined) {
    setCaller(request, known);
    return done();
  }
  authenticator
    .authenticate(request.raw)
    .then((caller) => setCaller(request, caller))
    .then(
      () => done(),
      (error: unknown) => done(error instanceof Error ? error : new TypeError('what was thrown is no error')),
    );
}
