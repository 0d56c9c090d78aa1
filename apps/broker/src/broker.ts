import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '#libs/clock';
import type { BrokerConfiguration } from '#libs/configuration';
import { GatewayConnections, UndiciSessionGateway } from '#libs/gateway';
import { SessionReplica } from '#libs/session';
import { type AuditLog, createAuditLog, createInstruments, type Logger, type Telemetry } from '#libs/telemetry';
import { AuthenticationFailures } from './auth/authentication-failures.js';
import { Authenticator } from './auth/authenticator.service.js';
import { BrokerModule, type BrokerParts } from './broker.module.js';
import { serveOpenApi } from './docs/open-api.js';
import { SessionWatchers } from './events/session-watchers.js';
import { drain } from './http/drain.js';
import { FreshRead } from './http/fresh-read.service.js';
import { createHttpAdapter, type EarlyAnswer, guardEdge } from './http/http-server.js';
import { observeRequests, untracedReads } from './http/observed-requests.js';
import { ReadCounts } from './http/read-counts.js';
import { RequestLife } from './http/request-life.js';
import { RouteMethods } from './http/route-methods.js';
import { listen } from './listen.js';
import { createManagementServer } from './management/management-server.js';
import { MerchantLabels } from './management/merchant-labels.js';
import { type Readiness, ReadinessProbe } from './management/readiness.js';
import { SessionMetrics, type WatchedParts } from './management/session-metrics.js';
import { StatusPage } from './management/status/status-page.js';
import { NestLogger } from './nest-logger.js';
import { openStore } from './open-store.js';
import { ConfiguredMerchants } from './renewal/configured-merchants.js';
import { EventFanOut } from './renewal/event-fan-out.js';
import { EventLog } from './renewal/event-log.js';

export interface BrokerOptions {
  readonly configuration: BrokerConfiguration;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Without it nothing is counted and there is no /metrics. */
  readonly telemetry?: Telemetry;
}

export interface RunningBroker {
  readonly url: string;
  readonly managementUrl: string;
  /** Stops claiming, ends renewals in flight within the grace period, answers what waits, closes every socket. */
  close(graceMs: number): Promise<void>;
}

/**
 * Starts one replica: ports meet adapters here and nowhere else.
 * @throws BrokerError `address_in_use` when one of the two ports is taken; nothing is left running then
 */
export async function startBroker(options: BrokerOptions): Promise<RunningBroker> {
  const { configuration, clock, logger, telemetry } = options;
  const merchants = new ConfiguredMerchants(configuration);
  const connections = new GatewayConnections(clock);
  const tracing = telemetry?.traces?.renewals;
  const traced = tracing === undefined ? {} : { tracing };
  const gateway = new UndiciSessionGateway({
    merchants: (id) => merchants.gatewayOf(id),
    connections,
    clock,
    ...traced,
  });
  const metrics = telemetry === undefined ? undefined : metricsOf(options, telemetry);
  const status = configuration.management.statusPage ? new StatusPage({ configuration, merchants, clock }) : undefined;
  const started: { replica?: SessionReplica } = {};
  const onStateChange = (up: boolean): void => {
    metrics?.setStoreUp(up);
    status?.setStoreUp(up);
    if (up) void started.replica?.resync();
  };
  const store = await openStore({ ...options, onStateChange });
  const listeners = [metrics, status].filter((listener) => listener !== undefined);
  const events = new EventFanOut(new EventLog(logger), ...listeners);
  const auditLog = openAuditLog(options);
  const parts = { configuration, merchants, clock, logger, store, gateway, events, auditLog, ...traced };
  const app = await createApp(parts, telemetry);
  const replica = app.get(SessionReplica);
  started.replica = replica;
  metrics?.watch(replica, watchedParts(app, merchants));
  const readiness = (): Readiness => app.get(ReadinessProbe).check();
  const management = createManagementServer(readiness, telemetry);
  status?.serve(management, { replica, readiness, watchers: () => app.get(SessionWatchers).count });
  const close = async (graceMs: number): Promise<void> => {
    app.get(RequestLife).shutDown();
    app.get(SessionWatchers).endAll();
    await app.get(SessionReplica).stop(graceMs);
    await drain(app.getHttpServer(), { close: () => app.close(), clock });
    status?.close();
    await Promise.all([management.close(), connections.close(), store.close(), telemetry?.shutdown()]);
  };
  try {
    const urls = await openPorts(configuration, { management, app });
    logger.info({ ...urls, merchants: configuration.merchants.length }, 'broker started');
    return { ...urls, close };
  } catch (error) {
    await close(0);
    throw error;
  }
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

function metricsOf({ configuration, clock }: BrokerOptions, { meter }: Telemetry): SessionMetrics {
  const ids = configuration.merchants.map(({ id }) => id);
  const labels = new MerchantLabels(ids, configuration.management.merchantSeries);
  return new SessionMetrics(createInstruments(meter), clock, labels);
}

function watchedParts(app: NestFastifyApplication, merchants: ConfiguredMerchants): WatchedParts {
  return {
    merchants: () => merchants.ids(),
    reads: () => app.get(ReadCounts).all(),
    watchers: () => app.get(SessionWatchers).count,
    authenticationFailures: () => app.get(AuthenticationFailures).all(),
  };
}

async function createApp(parts: BrokerParts, telemetry: Telemetry | undefined): Promise<NestFastifyApplication> {
  const edge: { early?: EarlyAnswer } = {};
  const adapter = createHttpAdapter(() => edge.early, parts.configuration.http.tls);
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
  if (parts.configuration.http.docs) serveOpenApi(app);
  await app.init();
  const freshRead = app.get(FreshRead);
  edge.early = untracedReads(telemetry, (request, response) => freshRead.answer(request, response));
  return app;
}
