import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { SessionReplica } from '#libs/session';
import { AuditTrail } from './audit/audit-trail.js';
import { AccessGuard } from './auth/access.guard.js';
import { Authenticator } from './auth/authenticator.service.js';
import { PolicyTable } from './auth/policy-table.js';
import { StandingAccess } from './auth/policy-table.js';
import { ConfigurationInForce } from './configuration/configuration-in-force.js';
import { EventsController } from './events/events.controller.js';
import { SessionWatchers } from './events/session-watchers.js';
import { ProblemFilter } from './http/problem.filter.js';
import { RequestLife } from './http/request-life.js';
import { RouteMethods } from './http/route-methods.js';
import { PayloadCipher } from './payloads/payload-cipher.service.js';
import { PayloadsController } from './payloads/payloads.controller.js';
import { CLOCK, LOGGER, type Platform, THIS_REPLICA, type ThisReplica } from './platform/platform.js';
import { ConfiguredMerchants } from './renewal/configured-merchants.js';
import { RenewalScheduler } from './renewal/renewal-scheduler.js';
import type { OpenReplica } from './renewal/replica.js';
import { StoreState } from './renewal/store.js';
import { MerchantsController } from './sessions/merchants.controller.js';
import { RenewalsController } from './sessions/renewals.controller.js';
import { SessionController } from './sessions/session.controller.js';
import { SessionReads } from './sessions/session-reads.js';

interface BrokerParts {
  readonly platform: Platform;
  readonly self: ThisReplica;
  readonly configuration: ConfigurationInForce;
  readonly open: OpenReplica;
  readonly audit: AuditTrail;
}

/** What Nest puts together: the routes, what applies to all of them, and the steady tick. */
@Module({})
export class BrokerModule {
  static forRoot({ platform, self, configuration, open, audit }: BrokerParts): DynamicModule {
    return {
      module: BrokerModule,
      imports: [ScheduleModule.forRoot()],
      controllers: [MerchantsController, SessionController, RenewalsController, EventsController, PayloadsController],
      providers: [
        { provide: CLOCK, useValue: platform.clock },
        { provide: LOGGER, useValue: platform.logger },
        { provide: THIS_REPLICA, useValue: self },
        { provide: ConfigurationInForce, useValue: configuration },
        { provide: SessionReplica, useValue: open.replica },
        { provide: ConfiguredMerchants, useValue: open.merchants },
        { provide: StoreState, useValue: open.store },
        { provide: AuditTrail, useValue: audit },
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_GUARD, useClass: AccessGuard },
        ...[Authenticator, PolicyTable, StandingAccess, RequestLife, RouteMethods],
        ...[SessionReads, SessionWatchers, PayloadCipher, RenewalScheduler],
      ],
    };
  }
}
