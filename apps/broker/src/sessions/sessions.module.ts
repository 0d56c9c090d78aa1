import type { Server } from 'node:http';
import { Inject, Module } from '@nestjs/common';
import { SessionReplica } from '#libs/session';
import type { Telemetry } from '#libs/telemetry';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { Authenticator } from '../auth/authenticator.service.js';
import { PolicyTable } from '../auth/policy-table.js';
import { HttpModule } from '../http/http.module.js';
import { answerFirst, HTTP_SERVER } from '../http/http-server.js';
import { untracedReads } from '../http/observed-requests.js';
import { TELEMETRY } from '../platform/tokens.js';
import { RenewalModule } from '../renewal/renewal.module.js';
import { freshReads } from './fresh-reads.js';
import { MerchantsController } from './merchants.controller.js';
import { RenewalWait } from './renewal-wait.js';
import { asReads } from './requests-of-proxies.js';
import { ReadCounts } from './read-counts.js';
import { SessionController } from './session.controller.js';
import { SessionHeadersController } from './session-headers.controller.js';
import { SessionReads } from './session-reads.js';
import { SessionLookup } from './session-lookup.service.js';

/** Reads of sessions: plain ones before the framework, all others through it. */
@Module({
  imports: [RenewalModule, AuthModule, AuditModule, HttpModule],
  controllers: [MerchantsController, SessionController, SessionHeadersController],
  providers: [RenewalWait, ReadCounts, SessionReads, SessionLookup],
  exports: [RenewalWait, ReadCounts],
})
export class SessionsModule {
  constructor(
    authenticator: Authenticator,
    policies: PolicyTable,
    replica: SessionReplica,
    reads: SessionReads,
    @Inject(HTTP_SERVER) server: Server,
    @Inject(TELEMETRY) telemetry?: Telemetry,
  ) {
    const early = untracedReads(telemetry, freshReads({ authenticator, policies, replica, reads }));
    answerFirst(server, asReads(early));
  }
}
