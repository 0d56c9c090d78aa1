import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Clock, Instant } from '#libs/clock';
import {
  assertCertificateUsable,
  assertFewRemoved,
  ConfigurationError,
  ConfigurationWatch,
  type EgressConfiguration,
  isSame,
  namesBetween,
  TooManyRemoved,
  UnusableCertificate,
} from '#libs/configuration';
import { someOf } from '#libs/errors';
import { tlsOptions } from '#libs/edge';
import { type Logger, type LogLevel, tellReading } from '#libs/telemetry';
import type { EgressAudit } from '../audit/egress-audit.js';
import { Deployment, type DeploymentParts } from './deployment.js';
import { changeBetween, type DeploymentChange, isEmpty, namesOf } from './deployment-change.js';
import type { DeploymentInForce } from './deployment-in-force.js';
import { withFixedSettings } from './fixed-settings.js';

/** What to do about a change that is refused, and about one that waits for a restart. */
const RUNBOOK = 'egress-config-reload-failed';

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
  /** Called for each attempt. */
  readonly onReload: (isTaken: boolean) => void;
}

/**
 * Applies changed files without a restart, and without any payment noticing. A configuration with a fault changes
 * nothing.
 */
export class Reloads {
  readonly #parts: ReloadsParts;
  readonly #watch: ConfigurationWatch | undefined;
  #wasRefused = false;
  #awaitingRestart: readonly string[] = [];
  /** Of the last reading that was accepted. */
  #warnings: EgressConfiguration['warnings'];

  constructor(parts: ReloadsParts) {
    const { source, clock, inForce, logger } = parts;
    this.#parts = parts;
    this.#warnings = inForce.current.configuration.warnings;
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
    const { inForce, parts, clock } = this.#parts;
    try {
      const loaded = await source.load();
      const before = inForce.current.configuration;
      const { configuration, awaitingRestart } = withFixedSettings(before, loaded);
      const change = changeBetween(before, configuration);
      const names = { before: namesOf(before), after: namesOf(configuration) };
      assertFewRemoved({ path: 'egress.clients', ...names, maxRemoved: before.reload.maxRemoved });
      assertShownCertificateUsable(before, configuration, clock.now());
      if (!isEmpty(change)) {
        const next = await Deployment.create(configuration, parts, inForce.current);
        if (this.#watch?.isClosed === true) return await next.close();
        await this.#changeOver(next);
      }
      this.#warn(loaded.warnings, isEmpty(change));
      this.#taken(change, awaitingRestart);
    } catch (error) {
      this.#refused(error);
    }
  }

  /**
   * A file that may arrive later, such as a token, can be missing although nothing has changed: that is logged once.
   */
  #warn(warnings: EgressConfiguration['warnings'], newOnly: boolean): void {
    const known = this.#warnings;
    this.#warnings = warnings;
    const told = newOnly ? warnings.filter((warning) => !known.some((each) => isSame(each, warning))) : warnings;
    for (const warning of told) this.#parts.logger.warn(warning, 'configuration warning');
  }

  #taken(change: DeploymentChange, awaitingRestart: readonly string[]): void {
    const { logger, audit, onReload, inForce } = this.#parts;
    const { added, removed } = change;
    const wasRefused = this.#wasRefused;
    const news = namesBetween(this.#awaitingRestart, awaitingRestart);
    this.#awaitingRestart = awaitingRestart;
    this.#wasRefused = false;
    const waiting = { settings: awaitingRestart, change: news, runbook: RUNBOOK };
    tellReading(logger, { inForce: { ...change }, waiting, wasRefused });
    if (removed.length > 0) {
      const left = { removed: someOf(removed), count: removed.length };
      logger.warn(left, 'clients are gone from the configuration: they are let in no more');
    }
    const count = inForce.current.configuration.clients.length;
    if (wasRefused || !isEmpty(change)) {
      audit.configurationRead({ isTaken: true, count, added: added.length, removed: removed.length });
    }
    onReload(true);
  }

  #refused(error: unknown): void {
    const { logger, audit, onReload } = this.#parts;
    this.#wasRefused = true;
    if (error instanceof UnusableCertificate && error.usableFrom !== undefined) {
      this.#watch?.readAgainAt(error.usableFrom);
    }
    const why = error instanceof ConfigurationError ? { faults: error.faults } : { error };
    logger.error(why, 'the changed configuration is not taken; the one before it stays in force');
    audit.configurationRead({
      isTaken: false,
      ...(error instanceof TooManyRemoved ? { removed: error.removed } : {}),
    });
    onReload(false);
  }

  /** The next deployment gets its sessions before any request depends on it. */
  async #changeOver(next: Deployment): Promise<void> {
    const { inForce, server, setLogLevel } = this.#parts;
    const { listen, log } = next.configuration;
    if (listen.tls !== undefined && server instanceof TlsServer) server.setSecureContext(tlsOptions(listen.tls));
    setLogLevel?.(log.level);
    next.start();
    await next.settled();
    inForce.replace(next);
  }
}

/** @throws UnusableCertificate */
function assertShownCertificateUsable(before: EgressConfiguration, next: EgressConfiguration, now: Instant): void {
  const path = 'egress.listen.tls.certFile';
  const certificates = { before: before.listen.tls?.cert, after: next.listen.tls?.cert };
  assertCertificateUsable({ path, ...certificates, files: next.files, warnings: next.warnings, now });
}
