import { hostname } from 'node:os';
import type { LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { BrokerConfiguration, ConfigurationSource } from '#libs/configuration';
import { boundsWithin, drain, EndedConnections, guardServer, listen, memoryLimit, returnMemory } from '#libs/edge';
import type { Logger, LogLevel } from '#libs/telemetry';
import { AuditTrail, openAuditLog } from './audit/audit-trail.js';
import { Authenticator } from './auth/authenticator.service.js';
import { PolicyTable } from './auth/policy-table.js';
import { BrokerModule } from './broker.module.js';
import { ConfigurationInForce } from './configuration/configuration-in-force.js';
import { serveDocumentation } from './docs/documentation-pages.js';
import { SessionWatchers } from './events/session-watchers.js';
import { createHttpAdapter, guardEdge } from './http/http-server.js';
import { observeRequests } from './http/http-server.js';
import { RequestLife } from './http/request-life.js';
import { RouteMethods } from './http/route-methods.js';
import { createManagement } from './management/management.js';
import type { Platform } from './platform/platform.js';
import { brokerReloads, changeOverOf } from './reload/reload.js';
import { RenewalScheduler } from './renewal/renewal-scheduler.js';
import { type OpenReplica, openReplica } from './renewal/replica.js';
import { answerReadsFirst } from './sessions/fresh-reads.js';
import { SessionReads } from './sessions/session-reads.js';

interface BrokerOptions extends Platform {
  readonly configuration: BrokerConfiguration;
  /** Where the configuration came from and is reread from. Without it, the configuration never changes. */
  readonly source?: ConfigurationSource;
  /** Called when a changed configuration sets a different log level. */
  readonly setLogLevel?: (level: LogLevel) => void;
  /** Aborted when the broker is to close as soon as it has started: it then creates no session in between. */
  readonly stopping?: AbortSignal;
}

export interface RunningBroker {
  readonly url: string;
  readonly managementUrl: string;
  /** Rereads the configuration at once, without waiting for the next check of its files. */
  reload(): Promise<void>;
  /**
   * Stops claiming, ends renewals in flight within the grace period, answers waiting requests, and closes every socket.
   */
  close(graceMs: number): Promise<void>;
}

type Broker = Awaited<ReturnType<typeof createBroker>>;

/**
 * Starts one replica.
 * @throws BrokerError `address_in_use` when one of the two ports is taken; nothing is left running then
 */
export async function startBroker(options: BrokerOptions): Promise<RunningBroker> {
  const broker = await createBroker(options);
  const { app, management, reloads } = broker;
  const { logger, stopping, replicaName: replica } = options;
  // Everything is loaded by now, and no one is waiting yet.
  returnMemory();
  try {
    // The management port first: it shows how the start is going.
    const managementUrl = await management.listen();
    const url = await openHttp(broker);
    reloads?.start();
    const merchants = options.configuration.merchants.length;
    logger.info({ replica, url, managementUrl, merchants }, 'broker started');
    // Only once the ports are open: a start that fails costs no create call.
    if (stopping?.aborted !== true) {
      app.get(RenewalScheduler).start();
      // After the renewals: no one is waiting for it.
      app.get(Authenticator).fetchKeysAhead();
    }
    const reload = (): Promise<void> => reloads?.reload() ?? Promise.resolve();
    return { url, managementUrl, reload, close: (graceMs) => close(broker, graceMs) };
  } catch (error) {
    await close(broker, 0);
    throw error;
  }
}

/** What one replica is made of, from the start to the end. */
async function createBroker(options: BrokerOptions) {
  const { clock, logger, replicaName: name = hostname(), telemetry, source, setLogLevel = () => undefined } = options;
  const configuration = new ConfigurationInForce(options.configuration);
  const open = await openReplica(configuration, options);
  const auditLog = openAuditLog(options.configuration, options);
  const self = { name, clock };
  const audit = new AuditTrail(auditLog, configuration, clock);
  const app = await NestFactory.create<NestFastifyApplication>(
    BrokerModule.forRoot({ platform: options, self, configuration, open, audit }),
    createHttpAdapter(options.configuration.http.tls),
    { logger: frameworkLogger(logger), abortOnError: false, bodyParser: false },
  );
  await openRoutes(app, options, open);
  const [authenticator, life, watchers] = [app.get(Authenticator), app.get(RequestLife), app.get(SessionWatchers)];
  const ends = new EndedConnections();
  const parts = { configuration, self, telemetry, open, authenticator, life, watchers, ends };
  const management = createManagement({ ...parts, reads: app.get(SessionReads) });
  const changeOver = changeOverOf({ configuration, open, watchers, server: app.getHttpServer(), setLogLevel });
  const onReload = (isTaken: boolean): void => management.noteReload(isTaken);
  const reloads = source && brokerReloads({ source, configuration, changeOver, clock, logger, auditLog, onReload });
  authenticator.onKeysChanged(() => watchers.endLost());
  life.onShutDown(() => watchers.endAll());
  life.onShutDown(() => reloads?.close());
  return { options, configuration, open, app, management, ends, reloads };
}

/** Hooks apply only to routes that are added after them: those of the controllers come last. */
async function openRoutes(app: NestFastifyApplication, options: BrokerOptions, open: OpenReplica): Promise<void> {
  const { telemetry, configuration } = options;
  const [authenticator, policies, reads] = [app.get(Authenticator), app.get(PolicyTable), app.get(SessionReads)];
  const server = app.getHttpAdapter().getInstance();
  observeRequests(server, telemetry);
  guardEdge(server, authenticator, app.get(RouteMethods));
  answerReadsFirst(app.getHttpServer(), { authenticator, policies, replica: open.replica, reads }, telemetry);
  if (configuration.http.docs) serveDocumentation(app);
  await app.init();
}

function openHttp({ app, options, configuration, ends }: Broker): Promise<string> {
  const { clock } = options;
  const { http, auth } = options.configuration;
  const hosts = auth.disabled ? () => configuration.current.http.hosts : undefined;
  const bounds = boundsWithin(memoryLimit(), http.connections);
  guardServer(app.getHttpServer(), { hosts, bounds, clock, onEnd: ends.of('api') });
  return listen(http, async (free) => {
    await app.listen(free);
    return await app.getUrl();
  });
}

/** Waiting requests are answered before waiting for renewals, so that consumers turn to another replica at once. */
async function close({ app, options, open, management }: Broker, graceMs: number): Promise<void> {
  const { clock, logger, telemetry } = options;
  logger.info({ graceMs }, 'broker stopping');
  app.get(RequestLife).shutDown();
  await open.replica.stop(graceMs);
  await drain(app.getHttpServer(), { close: () => app.close(), clock });
  await Promise.all([management.close(), open.close(), telemetry?.shutdown()]);
  logger.info({}, 'broker stopped');
}

/** Routes the framework's lines through our logger. Its start-up chatter is only for debugging. */
function frameworkLogger(logger: Logger): LoggerService {
  const fields = { framework: true };
  return {
    log: (message: unknown) => logger.debug(fields, String(message)),
    warn: (message: unknown) => logger.warn(fields, String(message)),
    error: (message: unknown) => logger.error(fields, String(message)),
  };
}
