import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '#libs/clock';
import type { BrokerConfiguration, ConfigurationSource } from '#libs/configuration';
import { GatewayConnections, type MerchantGateway, UndiciSessionGateway } from '#libs/gateway';
import { type ClientKey, inThisThread, type JweWork } from '#libs/jwe';
import { SessionReplica } from '#libs/session';
import { type AuditLog, createAuditLog, type Logger, type LogLevel, type Telemetry } from '#libs/telemetry';
import { AuthenticationFailures } from './auth/authentication-failures.js';
import { Authenticator } from './auth/authenticator.service.js';
import { BrokerModule, type BrokerParts } from './broker.module.js';
import { serveOpenApi } from './docs/open-api.js';
import { SessionWatchers } from './events/session-watchers.js';
import { drain } from './http/drain.js';
import { FreshRead } from './sessions/fresh-read.service.js';
import { createHttpAdapter, type EarlyAnswer, guardEdge } from './http/http-server.js';
import { observeRequests, untracedReads } from './http/observed-requests.js';
import { ReadCounts } from './sessions/read-counts.js';
import { RequestLife } from './http/request-life.js';
import { RouteMethods } from './http/route-methods.js';
import { ServerCertificate } from './http/server-certificate.js';
import { listen } from './listen.js';
import { createManagementServer } from './management/management-server.js';
import { type Readiness, ReadinessProbe } from './management/readiness.service.js';
import type { SessionMetrics, WatchedParts } from './management/session-metrics.js';
import { NestLogger } from './platform/nest-logger.js';
import { Observers } from './management/observers.js';
import { openStore, type StoreParts } from './renewal/open-store.js';
import { ConfiguredMerchants } from './configuration/configured-merchants.js';
import { ConfigurationInForce } from './configuration/configuration-in-force.js';
import { RenewalScheduler } from './renewal/renewal-scheduler.js';
import { ChangeOver } from './reload/change-over.js';
import { Reloader } from './reload/reloader.js';
import { RetiredKeys } from './configuration/retired-keys.js';
import { returnStartMemory } from './start-memory.js';

export interface BrokerOptions {
  readonly configuration: BrokerConfiguration;
  /** Where the configuration came from and is read again. Left out: it stays as it is. */
  readonly source?: ConfigurationSource;
  /** Called when a changed configuration names another level. */
  readonly setLogLevel?: (level: LogLevel) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Without it nothing is counted and there is no /metrics. */
  readonly telemetry?: Telemetry;
  /** Aborted when the broker is to be closed as soon as it has started: it then creates no session meanwhile. */
  readonly stopping?: AbortSignal;
  /** Where payloads are sealed and opened; left out: in this thread. */
  readonly jweWork?: JweWork;
}

export interface RunningBroker {
  readonly url: string;
  readonly managementUrl: string;
  /** Reads the configuration again at once, without waiting for its files to be looked at. */
  reload(): Promise<void>;
  /** Stops claiming, ends renewals in flight within the grace period, answers what waits, closes every socket. */
  close(graceMs: number): Promise<void>;
}

/**
 * Starts one replica: ports meet adapters here and nowhere else.
 * @throws BrokerError `address_in_use` when one of the two ports is taken; nothing is left running then
 */
export async function startBroker(options: BrokerOptions): Promise<RunningBroker> {
  const { clock, logger, telemetry, jweWork = inThisThread } = options;
  const started: { replica?: SessionReplica; scheduler?: RenewalScheduler } = {};
  const configuration = new ConfigurationInForce(options.configuration);
  const retired = new RetiredKeys({ clock, sessionOf: (merchant) => started.replica?.reader.peek(merchant)?.session });
  const merchants = new ConfiguredMerchants(configuration, retired);
  const connections = new GatewayConnections(clock);
  const tracing = telemetry?.traces?.renewals;
  const traced = tracing === undefined ? {} : { tracing };
  const ofMerchant = (id: string): MerchantGateway | undefined => merchants.connectionOf(id);
  const gateway = new UndiciSessionGateway({ merchants: ofMerchant, connections, clock, ...traced });
  const observers = new Observers({ configuration, merchants, clock, logger, telemetry });
  const { metrics, status, storeState, events } = observers;
  const onStateChange: StoreParts['onStateChange'] = (condition, reason) => {
    observers.noteStore(condition, reason);
    if (condition === 'answers') started.scheduler?.storeAnswers();
  };
  const keysOf = (merchant: string): readonly ClientKey[] => merchants.clientKeysOf(merchant);
  const store = await openStore({ store: options.configuration.store, keysOf, clock, logger, onStateChange });
  const auditLog = openAuditLog(options);
  const base = { configuration, merchants, clock, logger, events, storeState, ...traced };
  const parts = { ...base, store, gateway, auditLog, jweWork };
  const app = await createApp(parts, telemetry);
  const replica = app.get(SessionReplica);
  const scheduler = (started.scheduler = app.get(RenewalScheduler));
  started.replica = replica;
  observers.watch(replica, watchedParts(app, merchants));
  const management = createManagement(app, telemetry, status);
  const reloader = createReloader(options, { configuration, retired, app, auditLog, metrics });
  const close = async (graceMs: number): Promise<void> => {
    reloader?.close();
    await closeApp(app, { graceMs, clock, logger });
    status?.close();
    retired.close();
    await Promise.all([management.close(), connections.close(), store.close(), telemetry?.shutdown()]);
    logger.info({}, 'broker stopped');
  };
  // Everything is loaded by now, and nobody has to wait yet.
  returnStartMemory();
  try {
    const urls = await openPorts(options.configuration, { management, app });
    reloader?.start();
    logger.info({ ...urls, merchants: merchants.ids().length }, 'broker started');
    // Not before the ports are open: a start that fails costs no create call.
    if (options.stopping?.aborted !== true) scheduler.start();
    return { ...urls, reload: () => reloader?.reload() ?? Promise.resolve(), close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

function createManagement(
  app: NestFastifyApplication,
  telemetry: Telemetry | undefined,
  status: Observers['status'],
): FastifyInstance {
  const readiness = (): Readiness => app.get(ReadinessProbe).check();
  const management = createManagementServer(readiness, telemetry);
  const replica = app.get(SessionReplica);
  status?.serve(management, { replica, readiness, watchers: () => app.get(SessionWatchers).count });
  return management;
}

/** Whoever waits is answered before renewals are waited for: consumers turn to another replica at once. */
async function closeApp(
  app: NestFastifyApplication,
  { graceMs, clock, logger }: { readonly graceMs: number; readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  logger.info({ graceMs }, 'broker stopping');
  app.get(RequestLife).shutDown();
  app.get(SessionWatchers).endAll();
  await app.get(SessionReplica).stop(graceMs);
  await drain(app.getHttpServer(), { close: () => app.close(), clock });
}

/** The management port first: it shows how the start goes. */
async function openPorts(
  { http, management }: Pick<BrokerConfiguration, 'http' | 'management'>,
  servers: { readonly management: FastifyInstance; readonly app: NestFastifyApplication },
): Promise<Pick<RunningBroker, 'url' | 'managementUrl'>> {
  const managementUrl = await listen(management, (address) => servers.management.listen(address));
  const url = await listen(http, async (address) => {
    await servers.app.listen(address);
    return await servers.app.getUrl();
  });
  return { url, managementUrl };
}

/** A record that cannot be written is told in the log, and the broker goes on: consumers pay, whoever audits reads it. */
function openAuditLog({ configuration, clock, logger }: BrokerOptions): AuditLog {
  const onFailure = (error: unknown): void => logger.error({ error }, 'an audit record was not written');
  const auditLog = createAuditLog({ destination: configuration.audit.destination, clock, onFailure });
  auditLog.append({ action: 'configuration.load', outcome: 'allowed', count: configuration.merchants.length });
  return auditLog;
}

interface ReloadedParts {
  readonly configuration: ConfigurationInForce;
  readonly retired: RetiredKeys;
  readonly app: NestFastifyApplication;
  readonly auditLog: AuditLog;
  readonly metrics: SessionMetrics | undefined;
}

function createReloader(options: BrokerOptions, parts: ReloadedParts): Reloader | undefined {
  const { source, clock, logger, setLogLevel = () => undefined } = options;
  if (source === undefined) return undefined;
  const { configuration, retired, app, auditLog, metrics } = parts;
  const server = app.getHttpServer();
  const changeOver = new ChangeOver({
    configuration,
    retired,
    replica: app.get(SessionReplica),
    watchers: app.get(SessionWatchers),
    server,
    certificate: new ServerCertificate(server, configuration),
    setLogLevel,
  });
  const onReload = (isTaken: boolean): void => metrics?.noteReload(isTaken);
  return new Reloader({ source, configuration, changeOver, clock, logger, auditLog, onReload });
}

function watchedParts(
  app: NestFastifyApplication,
  merchants: ConfiguredMerchants,
): Omit<WatchedParts, 'unconfirmedRejections' | 'store'> {
  return {
    merchants: () => merchants.ids(),
    reads: () => app.get(ReadCounts).all(),
    watchers: () => app.get(SessionWatchers).count,
    authenticationFailures: () => app.get(AuthenticationFailures).all(),
  };
}

async function createApp(parts: BrokerParts, telemetry: Telemetry | undefined): Promise<NestFastifyApplication> {
  const edge: { early?: EarlyAnswer } = {};
  const { http } = parts.configuration.current;
  const adapter = createHttpAdapter(() => edge.early, http.tls);
  const logger = new NestLogger(parts.logger);
  const app = await NestFactory.create<NestFastifyApplication>(BrokerModule.with(parts), adapter, {
    logger,
    abortOnError: false,
    bodyParser: false,
  });
  const server: FastifyInstance = adapter.getInstance();
  // JSON is the one type of body that is read; anything else is answered 415.
  server.removeContentTypeParser('text/plain');
  observeRequests(server, telemetry);
  guardEdge(server, { authenticator: app.get(Authenticator), routes: app.get(RouteMethods) });
  if (http.docs) serveOpenApi(app);
  await app.init();
  const freshRead = app.get(FreshRead);
  edge.early = untracedReads(telemetry, (request, response) => freshRead.answer(request, response));
  return app;
}
