import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type BrokerConfiguration, type ConfigurationSource, Reloads } from '#libs/configuration';
import type { LogLevel } from '#libs/telemetry';
import { Authenticator } from './auth/authenticator.service.js';
import { BrokerModule } from './broker.module.js';
import { ConfigurationInForce } from './configuration/configuration-in-force.js';
import { serveDocumentation } from './docs/documentation-pages.js';
import { ConnectionEnds } from './http/connection-ends.js';
import { createHttpAdapter } from './http/http-server.js';
import { boundsWithin, drain, guardServer, listen, memoryLimit, returnMemory } from '#libs/edge';
import { RequestLife } from './http/request-life.js';
import { ManagementPort } from './management/management-port.js';
import { NestLogger } from './platform/nest-logger.js';
import type { Platform } from './platform/platform.module.js';
import { RenewalScheduler } from './renewal/renewal-scheduler.js';
import { ReplicaConnections } from './renewal/replica-connections.js';

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

/**
 * Starts one replica.
 * @throws BrokerError `address_in_use` when one of the two ports is taken; nothing is left running then
 */
export async function startBroker(options: BrokerOptions): Promise<RunningBroker> {
  const { configuration, source, logger, stopping, replicaName } = options;
  const app = await createApp(options);
  const reloads = source === undefined ? undefined : app.get(Reloads);
  // Everything is loaded by now, and no one is waiting yet.
  returnMemory();
  const end = (graceMs: number): Promise<void> => close(app, graceMs, options);
  try {
    // The management port first: it shows how the start is going.
    const managementUrl = await app.get(ManagementPort).open();
    const url = await openHttp(app, options);
    reloads?.start();
    const started = { replica: replicaName, url, managementUrl, merchants: configuration.merchants.length };
    logger.info(started, 'broker started');
    // Only once the ports are open: a start that fails costs no create call.
    if (stopping?.aborted !== true) begin(app);
    const reload = (): Promise<void> => reloads?.reload() ?? Promise.resolve();
    return { url, managementUrl, reload, close: end };
  } catch (error) {
    await end(0);
    throw error;
  }
}

/** What a replica does unprompted. */
function begin(app: NestFastifyApplication): void {
  app.get(RenewalScheduler).start();
  // After the renewals: no one is waiting for it.
  app.get(Authenticator).fetchKeysAhead();
}

async function createApp({
  source,
  setLogLevel = () => undefined,
  ...options
}: BrokerOptions): Promise<NestFastifyApplication> {
  const { http } = options.configuration;
  const reload = source === undefined ? {} : { reload: { source, setLogLevel } };
  const app = await NestFactory.create<NestFastifyApplication>(
    BrokerModule.forRoot({ ...options, ...reload }),
    createHttpAdapter(http.tls),
    { logger: new NestLogger(options.logger), abortOnError: false, bodyParser: false },
  );
  if (http.docs) serveDocumentation(app);
  await app.init();
  return app;
}

function openHttp(app: NestFastifyApplication, { configuration, clock }: BrokerOptions): Promise<string> {
  const { http, auth } = configuration;
  const { api: ended } = app.get(ConnectionEnds);
  const inForce = app.get(ConfigurationInForce);
  const hosts = auth.disabled ? () => inForce.current.http.hosts : undefined;
  guardServer(app.getHttpServer(), { hosts, bounds: boundsWithin(memoryLimit(), http.connections), clock, ended });
  return listen(http, async (free) => {
    await app.listen(free);
    return await app.getUrl();
  });
}

/** Waiting requests are answered before waiting for renewals, so that consumers turn to another replica at once. */
async function close(
  app: NestFastifyApplication,
  graceMs: number,
  { clock, logger, telemetry }: Platform,
): Promise<void> {
  logger.info({ graceMs }, 'broker stopping');
  app.get(RequestLife).shutDown();
  await app.get(RenewalScheduler).stop(graceMs);
  await drain(app.getHttpServer(), { close: () => app.close(), clock });
  await Promise.all([app.get(ManagementPort).close(), app.get(ReplicaConnections).close(), telemetry?.shutdown()]);
  logger.info({}, 'broker stopped');
}
