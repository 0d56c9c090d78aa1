import type { Server } from 'node:http';
import type { Clock } from '#libs/clock';
import type { EgressConfiguration, Reloads } from '#libs/configuration';
import {
  boundsWithin,
  drain,
  endConnections,
  EndedConnections,
  guardServer,
  memoryLimit,
  openServer,
  returnMemory,
} from '#libs/edge';
import { createEgressInstruments, type Logger, type LogLevel, type Telemetry } from '#libs/telemetry';
import { type EgressAudit, openEgressAudit } from './audit/egress-audit.js';
import { Deployment } from './deployment/deployment.js';
import { DeploymentInForce } from './deployment/deployment-in-force.js';
import { egressReloads, type ReloadSource } from './deployment/reloads.js';
import { Traffic } from './exchange/traffic.js';
import { type EgressReadiness, readinessOf } from './management/egress-readiness.js';
import { type Management, openManagement } from './management/management-server.js';
import { createEgressServer } from './server/egress-server.js';
import { RequestEnds } from './exchange/request-ends.js';

interface EgressOptions {
  readonly configuration: EgressConfiguration;
  /** Where the configuration came from and is reread from. Without it, the configuration never changes. */
  readonly source?: ReloadSource;
  /** Called when a changed configuration sets a different log level. */
  readonly setLogLevel?: (level: LogLevel) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry?: Telemetry;
}

export interface RunningEgress {
  readonly url: string;
  readonly managementUrl: string;
  /** Rereads the configuration at once, without waiting for the next check of its files. */
  reload(): Promise<void>;
  /** Accepts no new requests, lets payments in progress end, and closes every socket. */
  close(): Promise<void>;
}

/** On top of the gateway's own timeout, for the broker to replace a session or open an answer. */
const CLOSE_GRACE_MS = 10_000;

/**
 * Starts one egress.
 * @throws BrokerError `address_in_use` when one of the two ports is taken; nothing is left running then
 */
export async function startEgress(options: EgressOptions): Promise<RunningEgress> {
  const egress = await assemble(options);
  const { configuration, logger } = options;
  // Everything is loaded by now, and no one is waiting yet.
  returnMemory();
  try {
    // The management port first: it shows how the start is going.
    const managementUrl = await egress.openManagement();
    const url = await egress.open();
    egress.start();
    logger.info({ url, managementUrl, clients: configuration.clients.length }, 'egress started');
    return { url, managementUrl, reload: () => egress.reload(), close: () => egress.close() };
  } catch (error) {
    await egress.close();
    throw error;
  }
}

async function assemble(options: EgressOptions): Promise<Egress> {
  const { configuration, clock, logger, telemetry } = options;
  const instruments = telemetry === undefined ? undefined : createEgressInstruments(telemetry.meter, clock);
  const parts = { clock, logger, onHeld: (merchant: string, held: number) => instruments?.held(merchant, held) };
  const inForce = new DeploymentInForce(await Deployment.create(configuration, parts));
  instruments?.observeSessions(() => inForce.current.held());
  const begin = (): void => {
    const { clients, routes } = inForce.current.configuration;
    const names = clients.map(
      ({ name: client, merchant, alias }) =>
        ({ client, merchant, form: alias === undefined ? 'plain' : 'alias' }) as const,
    );
    const paths = routes.map(({ path }) => path);
    instruments?.begin(names, paths);
  };
  begin();
  const audit = openEgressAudit({ configuration, clock, logger });
  const ends = new RequestEnds({ audit, instruments });
  const traffic = new Traffic({ inForce, clock, logger, ends, traces: telemetry?.traces });
  const server = createEgressServer(configuration.listen.tls, (arrival) => void traffic.serve(arrival));
  const connectionEnds = new EndedConnections();
  instruments?.observeConnectionEnds(() => connectionEnds.counts);
  instruments?.observeCertificates(() =>
    inForce.current.configuration.certificates.map(({ setting, endsAt }) => ({ setting, endsAtMs: endsAt })),
  );
  guardServer(server, {
    bounds: boundsWithin(memoryLimit(), configuration.listen.connections),
    clock,
    onEnd: connectionEnds.of('api'),
  });
  const onReload = (isTaken: boolean): void => {
    instruments?.reloaded(isTaken);
    if (isTaken) begin();
  };
  const { source, setLogLevel } = options;
  const reloads = source && egressReloads(source, { ...parts, parts, setLogLevel, inForce, server, audit, onReload });
  return new Egress({ options, inForce, traffic, server, reloads, audit, connectionEnds });
}

interface EgressParts {
  readonly options: EgressOptions;
  readonly inForce: DeploymentInForce;
  readonly traffic: Traffic;
  readonly server: Server;
  readonly reloads: Pick<Reloads, 'start' | 'reload' | 'close'> | undefined;
  readonly audit: EgressAudit;
  readonly connectionEnds: EndedConnections;
}

/** What runs, and the order in which it starts and ends. */
class Egress {
  readonly #parts: EgressParts;
  #management: Management | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: EgressParts) {
    this.#parts = parts;
  }

  async openManagement(): Promise<string> {
    const { options, inForce, traffic, connectionEnds } = this.#parts;
    const { configuration, clock, telemetry } = options;
    const readiness = (): EgressReadiness => readinessOf(inForce.current.held(), traffic.isEnding);
    const { management: address } = configuration;
    const onEnd = connectionEnds.of('management');
    const opened = { address, hosts: address.hosts, readiness, telemetry, clock, onEnd };
    this.#management = await openManagement(opened);
    return this.#management.url;
  }

  open(): Promise<string> {
    const { server, options } = this.#parts;
    const { listen } = options.configuration;
    return openServer(server, listen, listen.tls === undefined ? 'http' : 'https');
  }

  /** The first sessions are requested once the ports are open; requests that arrive earlier wait for them. */
  start(): void {
    const { inForce, reloads } = this.#parts;
    inForce.current.start();
    reloads?.start();
  }

  reload(): Promise<void> {
    return this.#parts.reloads?.reload() ?? Promise.resolve();
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const { options, inForce, traffic, server, reloads } = this.#parts;
    const { clock, logger, telemetry } = options;
    logger.info({}, 'egress stopping');
    reloads?.close();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    endConnections(server);
    await this.#lastRequests(traffic, clock);
    await drain(server, { close: () => closed, clock });
    await inForce.close();
    this.#parts.audit.close();
    await Promise.all([this.#management?.close(), telemetry?.shutdown()]);
    logger.info({}, 'egress stopped');
  }

  /** Payments in progress may end: otherwise nobody could tell what became of them. */
  #lastRequests(traffic: Traffic, clock: Clock): Promise<void> {
    const { timeoutMs } = this.#parts.inForce.current.configuration.gateway;
    return new Promise((resolve) => {
      const limit = clock.schedule(timeoutMs + CLOSE_GRACE_MS, resolve);
      void traffic.end().then(() => {
        limit.cancel();
        resolve();
      });
    });
  }
}
