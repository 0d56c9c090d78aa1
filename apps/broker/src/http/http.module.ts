import type { Server } from 'node:http';
import { Inject, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import type { Telemetry } from '#libs/telemetry';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { Authenticator } from '../auth/authenticator.service.js';
import { PolicyGuard } from '../auth/policy.guard.js';
import { TELEMETRY } from '../platform/tokens.js';
import { RateLimitGuard } from '../rate-limit/rate-limit.guard.js';
import { ConnectionEnds } from './connection-ends.js';
import { guardEdge, HTTP_SERVER } from './http-server.js';
import { observeRequests } from './observed-requests.js';
import { ProblemFilter } from './problem.filter.js';
import { RequestLife } from './request-life.js';
import { RouteMethods } from './route-methods.js';
import { ServerCertificate } from './server-certificate.js';

const serverOf = (host: HttpAdapterHost): FastifyInstance => host.httpAdapter.getInstance<FastifyInstance>();

/** What applies to every route: who may enter, how often, how a request ends, and what a refusal looks like. */
@Module({
  imports: [AuthModule, AuditModule],
  providers: [
    {
      provide: HTTP_SERVER,
      inject: [HttpAdapterHost],
      useFactory: (host: HttpAdapterHost): Server => serverOf(host).server,
    },
    { provide: APP_FILTER, useClass: ProblemFilter },
    // In this order, so that only callers that have the permission are counted.
    { provide: APP_GUARD, useClass: PolicyGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    ConnectionEnds,
    RequestLife,
    RouteMethods,
    ServerCertificate,
  ],
  exports: [HTTP_SERVER, ConnectionEnds, RequestLife, ServerCertificate],
})
export class HttpModule {
  /** Before there are any routes: hooks apply only to routes added after them. */
  constructor(
    host: HttpAdapterHost,
    authenticator: Authenticator,
    routes: RouteMethods,
    @Inject(TELEMETRY) telemetry?: Telemetry,
  ) {
    const server = serverOf(host);
    // JSON is the only type of body that is read; anything else is answered 415.
    server.removeContentTypeParser('text/plain');
    observeRequests(server, telemetry);
    guardEdge(server, { authenticator, routes });
  }
}
