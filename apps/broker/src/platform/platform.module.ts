import { hostname } from 'node:os';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { inThisThread, type JweWork } from '#libs/jwe';
import type { Logger, Telemetry } from '#libs/telemetry';
import { CLOCK, JWE_WORK, LOGGER, TELEMETRY, THIS_REPLICA } from './tokens.js';

/** Identifies the replica that answers. */
export interface ThisReplica {
  readonly name: string;
  readonly clock: Clock;
}

export interface Platform {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name people know this replica by; default: the host name. */
  readonly replicaName?: string;
  /** Without it, nothing is counted and there is no /metrics. */
  readonly telemetry?: Telemetry;
  /** Where payloads are sealed and opened; default: in this thread. */
  readonly jweWork?: JweWork;
}

/** What the process provides to every feature. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot({
    clock,
    logger,
    replicaName = hostname(),
    telemetry,
    jweWork = inThisThread,
  }: Platform): DynamicModule {
    return {
      module: PlatformModule,
      providers: [
        { provide: CLOCK, useValue: clock },
        { provide: LOGGER, useValue: logger },
        { provide: THIS_REPLICA, useValue: { name: replicaName, clock } satisfies ThisReplica },
        { provide: TELEMETRY, useValue: telemetry },
        { provide: JWE_WORK, useValue: jweWork },
      ],
      exports: [CLOCK, LOGGER, THIS_REPLICA, TELEMETRY, JWE_WORK],
    };
  }
}
