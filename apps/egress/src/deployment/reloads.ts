import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Clock } from '#libs/clock';
import {
  assertFewRemoved,
  ConfigurationError,
  ConfigurationWatch,
  type EgressConfiguration,
  isSame,
  type NamesBetween,
  namesBetween,
  TooManyRemoved,
} from '#libs/configuration';
import { tlsOptions } from '#libs/edge';
import { type Logger, type LogLevel, someOf, tellAwaitingRestart } from '#libs/telemetry';
import type { EgressAudit } from '../audit/egress-audit.js';
import { Deployment, type DeploymentParts } from './deployment.js';
import type { DeploymentInForce } from './deployment-in-force.js';

export interface ReloadSource {
  load(): Promise<EgressConfiguration>;
  stamp(): Promise<string>;
  readonly loadedStamp: string;
}

interface ReloadsParts {
  readonly source?: ReloadSource;
  readonly setLogLevel?: ((level: LogLevel) => void) | undefined;
  readonly inForce: DeploymentInForce;
  readonly parts: DeploymentParts;
  readonly server: Server;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly audit: Pick<EgressAudit, 'configurationRead'>;
  /** Told of each attempt. */
  readonly onReload: (isTaken: boolean) => void;
}

/** Takes changed files without a restart, and without a payment that notices. A configuration with a fault changes nothing. */
export class Reloads {
  readonly #parts: ReloadsParts;
  readonly #watch: ConfigurationWatch | undefined;
  #wasRefused = false;
  #awaitingRestart: readonly string[] = [];

  constructor(parts: ReloadsParts) {
    const { source, clock, inForce, logger } = parts;
    this.#parts = parts;
    if (source === undefined) return;
    this.#watch = new ConfigurationWatch({
      source,
      clock,
      pace: () => inForce.current.configuration.reload,
      take: () => this.#take(source),
      onFailure: (error) => logger.error({ error }, 'the files of the configuration cannot be looked at'),
    });
  }

  start(): void {
    this.#watch?.start();
  }

  reload(): Promise<void> {
    return this.#watch?.reload() ?? Promise.resolve();
  }

  close(): void {
    this.#watch?.close();
  }

  async #take(source: ReloadSource): Promise<void> {
    const { inForce, parts, logger } = this.#parts;
    try {
      const loaded = await source.load();
      const before = inForce.current.configuration;
      if (isSame(before, loaded)) {
        this.#tellAwaitingRestart([]);
        return this.#same(before.clients.length);
      }
      const change = namesBetween(namesOf(before), namesOf(loaded));
      assertFewRemoved({ path: 'egress.clients', names: change.removed, maxRemoved: before.reload.maxRemoved });
      const next = await Deployment.create(withFixedSettings(before, loaded), parts, inForce.current);
      if (this.#watch?.isClosed === true) return await next.close();
      await this.#changeOver(next);
      for (const warning of loaded.warnings) logger.warn(warning, 'configuration warning');
      this.#tellAwaitingRestart(awaitingRestart(before, loaded));
      this.#taken(change, loaded.clients.length);
    } catch (error) {
      this.#refused(error);
    }
  }

  #same(clients: number): void {
    const { logger, audit, onReload } = this.#parts;
    if (this.#wasRefused) {
      logger.info({}, 'the configuration is right again; nothing has changed');
      audit.configurationRead({ isTaken: true, count: clients, added: 0, removed: 0 });
    } else {
      logger.debug({}, 'the configuration was read again and says the same');
    }
    this.#wasRefused = false;
    onReload(true);
  }

  #taken({ added, removed }: NamesBetween, clients: number): void {
    const { logger, audit, onReload } = this.#parts;
    logger.info({ clients, added: someOf(added), removed: someOf(removed) }, 'the changed configuration is in force');
    if (removed.length > 0) {
      const left = { removed: someOf(removed), count: removed.length };
      logger.warn(left, 'clients are gone from the configuration: they are let in no more');
    }
    audit.configurationRead({ isTaken: true, count: clients, added: added.length, removed: removed.length });
    this.#wasRefused = false;
    onReload(true);
  }

  #refused(error: unknown): void {
    const { logger, audit, onReload } = this.#parts;
    this.#wasRefused = true;
    const why = error instanceof ConfigurationError ? { faults: error.faults } : { error };
    logger.error(why, 'the changed configuration is not taken; the one before it stays in force');
    audit.configurationRead({
      isTaken: false,
      ...(error instanceof TooManyRemoved ? { removed: error.removed } : {}),
    });
    onReload(false);
  }

  /** The next one is asked to have its sessions before anybody depends on it. */
  async #changeOver(next: Deployment): Promise<void> {
    const { inForce, server, setLogLevel } = this.#parts;
    const { listen, log } = next.configuration;
    if (listen.tls !== undefined && server instanceof TlsServer) server.setSecureContext(tlsOptions(listen.tls));
    setLogLevel?.(log.level);
    next.start();
    await next.settled();
    inForce.replace(next);
  }

  #tellAwaitingRestart(settings: readonly string[]): void {
    const change = namesBetween(this.#awaitingRestart, settings);
    this.#awaitingRestart = settings;
    tellAwaitingRestart(this.#parts.logger, { settings, change, runbook: 'egress-config-reload-failed' });
  }
}

const namesOf = ({ clients }: EgressConfiguration): readonly string[] => clients.map(({ name }) => name);

/** Bound to what is open: sockets and files of the process. */
const fixedSettings = ['listen', 'management', 'audit'] as const;

const awaitingRestart = (before: EgressConfiguration, loaded: EgressConfiguration): readonly string[] =>
  fixedSettings.filter((name) => !isSame(addressOf(before, name), addressOf(loaded, name)));

function addressOf(configuration: EgressConfiguration, name: (typeof fixedSettings)[number]): object {
  if (name === 'audit') return configuration.audit;
  const { host, port } = configuration[name];
  if (name === 'management') return { host, port };
  const { connections, tls } = configuration.listen;
  return { host, port, connections, hasTls: tls !== undefined };
}

function withFixedSettings(before: EgressConfiguration, loaded: EgressConfiguration): EgressConfiguration {
  const { host, port, connections } = before.listen;
  const tls = before.listen.tls === undefined ? undefined : (loaded.listen.tls ?? before.listen.tls);
  const listen = { host, port, connections, ...(tls === undefined ? {} : { tls }) };
  return { ...loaded, listen, management: before.management, audit: before.audit };
}
