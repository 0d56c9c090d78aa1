import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../auth/authenticator.js';
import { setCaller } from '../auth/caller.js';
import { DOCS_PATH, isDocumentation } from '../docs/open-api.js';
import { answerClientError } from './client-error.js';
import type { RouteMethods } from './route-methods.js';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const CONTENT_SECURITY = "default-src 'none'; frame-ancestors 'none'";
/** The pages bring their own scripts and styles, from this origin; their styles are partly inline. */
const DOCS_CONTENT_SECURITY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** Sizes and times of a request. Bodies of the API are small; a JWE of 64 KiB with its JSON around it is the largest. */
export function createHttpAdapter(): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: 131_072,
    requestTimeout: 10_000,
    connectionTimeout: 0,
    keepAliveTimeout: 75_000,
    http: { maxHeaderSize: 16_384, headersTimeout: 10_000 },
    routerOptions: { maxParamLength: 100 },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    genReqId: requestIdOf,
    clientErrorHandler: answerClientError,
  });
}

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

export interface EdgeParts {
  readonly authenticator: Authenticator;
  readonly routes: RouteMethods;
}

/** What holds for every request, before its body is read: an id, headers of caution, and a caller who is known. */
export function guardEdge(server: FastifyInstance, parts: EdgeParts): void {
  server.addHook('onRoute', (route) => {
    if (route.url.includes('*') || route.url.startsWith(DOCS_PATH)) return;
    parts.routes.note(route);
  });
  server.addHook('onRequest', (request, reply, done) => {
    const documentation = isDocumentation(request.url.split('?', 1)[0] ?? '');
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    reply.header('content-security-policy', documentation ? DOCS_CONTENT_SECURITY : CONTENT_SECURITY);
    if (!documentation) setCaller(request, parts.authenticator.authenticate(request.headers.authorization));
    done();
  });
}
