import { randomInt, randomUUID } from 'node:crypto';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import type { Clock } from '#libs/clock';
import type { JweWork } from '#libs/jwe';
import {
  SessionReplica,
  type SessionEvents,
  type SessionGateway,
  type SessionStore,
  type Tracing,
} from '#libs/session';
import type { AuditLog, Logger } from '#libs/telemetry';
import { AuditTrail } from './audit/audit-trail.js';
import { AuthenticationFailures } from './auth/authentication-failures.js';
import { Authenticator } from './auth/authenticator.service.js';
import { PolicyGuard } from './auth/policy.guard.js';
import { PolicyTable } from './auth/policy-table.js';
import { ReadAccess } from './auth/read-access.js';
import { EventsController } from './events/events.controller.js';
import { SessionWatchers } from './events/session-watchers.js';
import { FreshRead } from './sessions/fresh-read.service.js';
import { MerchantsController } from './sessions/merchants.controller.js';
import { Patience } from './sessions/patience.js';
import { ProblemFilter } from './http/problem.filter.js';
import { RateLimitGuard } from './rate-limit/rate-limit.guard.js';
import { ReadCounts } from './sessions/read-counts.js';
import { RejectionsController } from './sessions/rejections.controller.js';
import { RequestLife } from './http/request-life.js';
import { RouteMethods } from './http/route-methods.js';
import { SessionLookup } from './sessions/session-lookup.service.js';
import { SessionController } from './sessions/session.controller.js';
import { ReadinessProbe } from './management/readiness.service.js';
import { StoreState } from './renewal/store-state.js';
import { PayloadCipher } from './payloads/payload-cipher.service.js';
import { PayloadsController } from './payloads/payloads.controller.js';
import { ConfiguredMerchants } from './configuration/configured-merchants.js';
import { graceMsFor } from './renewal/grace-of-store.js';
import { RenewalScheduler } from './renewal/renewal-scheduler.js';
import { ConfigurationInForce } from './configuration/configuration-in-force.js';
import { AUDIT_LOG, CLOCK, EVENTS, GATEWAY, JWE_WORK, LOGGER, STORE } from './platform/tokens.js';

/** What the app is made of; made outside Nest, so that a test may bring its own. */
export interface BrokerParts {
  readonly configuration: ConfigurationInForce;
  readonly merchants: ConfiguredMerchants;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: SessionStore;
  readonly gateway: SessionGateway;
  readonly events: SessionEvents;
  readonly tracing?: Tracing;
  readonly auditLog: AuditLog;
  /** Where payloads are sealed and opened. */
  readonly jweWork: JweWork;
  readonly storeState: StoreState;
}

/** Jitter needs no secrecy, but one source of randomness is enough. */
const RANDOM_STEPS = 2 ** 32;

@Module({})
export class BrokerModule {
  static with(parts: BrokerParts): DynamicModule {
    const replica = {
      provide: SessionReplica,
      useFactory: () =>
        new SessionReplica({
          ...parts,
          owner: randomUUID(),
          random: () => randomInt(RANDOM_STEPS) / RANDOM_STEPS,
          graceMs: graceMsFor(parts.configuration.current.store),
        }),
    };
    return {
      module: BrokerModule,
      imports: [ScheduleModule.forRoot()],
      controllers: [MerchantsController, SessionController, EventsController, RejectionsController, PayloadsController],
      providers: [
        { provide: ConfigurationInForce, useValue: parts.configuration },
        { provide: ConfiguredMerchants, useValue: parts.merchants },
        { provide: CLOCK, useValue: parts.clock },
        { provide: LOGGER, useValue: parts.logger },
        { provide: STORE, useValue: parts.store },
        { provide: GATEWAY, useValue: parts.gateway },
        { provide: EVENTS, useValue: parts.events },
        { provide: AUDIT_LOG, useValue: parts.auditLog },
        { provide: JWE_WORK, useValue: parts.jweWork },
        { provide: StoreState, useValue: parts.storeState },
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_GUARD, useClass: PolicyGuard },
        { provide: APP_GUARD, useClass: RateLimitGuard },
        replica,
        AuditTrail,
        AuthenticationFailures,
        Authenticator,
        FreshRead,
        Patience,
        PayloadCipher,
        PolicyTable,
        ReadinessProbe,
        RenewalScheduler,
        ReadAccess,
        ReadCounts,
        RequestLife,
        RouteMethods,
        SessionLookup,
        SessionWatchers,
      ],
    };
  }
}
