import type { Server } from 'node:http';
import type { FactoryProvider, Provider } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { type ConfigurationSource, Reloads } from '#libs/configuration';
import { SessionReplica } from '#libs/session';
import type { AuditLog, Logger, LogLevel } from '#libs/telemetry';
import { AUDIT_LOG } from '../audit/audit-trail.js';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { SessionWatchers } from '../events/session-watchers.js';
import { HTTP_SERVER } from '../http/http-server.js';
import { ServerCertificate } from '../http/server-certificate.js';
import { SessionMetrics } from '../management/session-metrics.js';
import { CLOCK, LOGGER } from '../platform/tokens.js';
import { RetiredKeys } from '../renewal/retired-keys.js';
import { ChangeOver } from './change-over.js';
import { brokerReloads } from './reloader.js';

export interface ReloadOptions {
  /** Where the configuration came from and is reread from. */
  readonly source: ConfigurationSource;
  /** Called when a changed configuration sets a different log level. */
  readonly setLogLevel: (level: LogLevel) => void;
}

export function reloadProviders({ source, setLogLevel }: ReloadOptions): Provider[] {
  return [changeOver(setLogLevel), reloads(source)];
}

function changeOver(setLogLevel: ReloadOptions['setLogLevel']): FactoryProvider<ChangeOver> {
  return {
    provide: ChangeOver,
    inject: [ConfigurationInForce, RetiredKeys, SessionReplica, SessionWatchers, HTTP_SERVER, ServerCertificate],
    useFactory: (
      configuration: ConfigurationInForce,
      retired: RetiredKeys,
      replica: SessionReplica,
      watchers: SessionWatchers,
      server: Server,
      certificate: ServerCertificate,
    ) => new ChangeOver({ configuration, retired, replica, watchers, server, certificate, setLogLevel }),
  };
}

function reloads(source: ConfigurationSource): FactoryProvider {
  return {
    provide: Reloads,
    inject: [ConfigurationInForce, ChangeOver, AUDIT_LOG, SessionMetrics, CLOCK, LOGGER],
    useFactory: (
      configuration: ConfigurationInForce,
      change: ChangeOver,
      auditLog: AuditLog,
      metrics: SessionMetrics | undefined,
      clock: Clock,
      logger: Logger,
    ) => {
      const onReload = (isTaken: boolean): void => metrics?.noteReload(isTaken);
      return brokerReloads({ source, configuration, changeOver: change, auditLog, clock, logger, onReload });
    },
  };
}
