import type { Clock, Instant } from '#libs/clock';
import {
  assertCertificateUsable,
  assertFewRemoved,
  type BrokerConfiguration,
  ConfigurationError,
  type ConfigurationSource,
  ConfigurationWatch,
  namesBetween,
  TooManyRemoved,
  UnusableCertificate,
} from '#libs/configuration';
import { someOf } from '#libs/errors';
import { type AuditLog, type Logger, tellReading, type ToldReading } from '#libs/telemetry';
import type { ChangeOver } from './change-over.js';
import { type ConfigurationChange, idsOf, isEmpty } from './configuration-change.js';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { withFixedSettings } from './fixed-settings.js';

/** What to do about a change that is refused, and about one that waits for a restart. */
const RUNBOOK = 'config-reload-failed';

interface ReloaderParts {
  readonly source: Pick<ConfigurationSource, 'load' | 'stamp' | 'loadedStamp'>;
  readonly configuration: ConfigurationInForce;
  readonly changeOver: Pick<ChangeOver, 'to'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly auditLog: AuditLog;
  /** Called for each attempt. */
  readonly onReload: (taken: boolean) => void;
}

/** Applies changed files without a restart. A configuration with a fault changes nothing. */
export class Reloader {
  readonly #parts: ReloaderParts;
  readonly #watch: ConfigurationWatch;

  constructor(parts: ReloaderParts) {
    const { source, clock, configuration, logger } = parts;
    this.#parts = parts;
    this.#watch = new ConfigurationWatch({
      source,
      clock,
      pace: () => configuration.current.reload,
      take: () => this.#take(),
      onFailure: (error) => logger.error({ error }, 'the files of the configuration cannot be looked at'),
    });
  }

  start(): void {
    this.#watch.start();
  }

  /**
   * Reads the files now, changed or not. One reading at a time; a request during a reading causes another one after it.
   */
  reload(): Promise<void> {
    return this.#watch.reload();
  }

  /** Stops watching. A reading in progress comes to nothing. */
  close(): void {
    this.#watch.close();
  }

  async #take(): Promise<void> {
    const { source, configuration, changeOver, logger, clock } = this.#parts;
    try {
      const loaded = await source.load();
      if (this.#watch.isClosed) return;
      const { configuration: next, awaitingRestart } = withFixedSettings(configuration.current, loaded);
      assertTakeable(configuration.current, next, clock.now());
      const change = changeOver.to(next);
      if (!isEmpty(change)) for (const warning of loaded.warnings) logger.warn(warning, 'configuration warning');
      const { refused, awaitingRestart: before } = configuration.lastReading;
      configuration.lastReading.noteTaken(awaitingRestart, clock.now());
      const waiting = { settings: awaitingRestart, change: namesBetween(before, awaitingRestart), runbook: RUNBOOK };
      this.#taken(change, { waiting, wasRefused: refused !== undefined });
    } catch (error) {
      this.#refused(error);
    }
  }

  #taken(change: ConfigurationChange, { waiting, wasRefused }: Pick<ToldReading, 'waiting' | 'wasRefused'>): void {
    const { logger, onReload } = this.#parts;
    const { merchants, settings, ofMerchants } = change;
    onReload(true);
    const inForce = {
      ...{ added: merchants.added, removed: merchants.removed, changed: merchants.changed, settings },
      ...(ofMerchants.length > 0 && { ofMerchants }),
    };
    tellReading(logger, { inForce, waiting, wasRefused });
    if (merchants.removed.length > 0) {
      const left = { removed: someOf(merchants.removed), count: merchants.removed.length };
      logger.warn(left, 'merchants are gone from the configuration: nobody is served their sessions any more');
    }
    if (!isEmpty(change) || wasRefused) this.#record(change);
  }

  #record({ merchants, settings }: ConfigurationChange): void {
    const { auditLog, configuration } = this.#parts;
    auditLog.append({
      action: 'configuration.load',
      outcome: 'allowed',
      count: configuration.current.merchants.length,
      added: merchants.added.length,
      removed: merchants.removed.length,
    });
    for (const [what, ids] of Object.entries(merchants)) {
      for (const merchant of ids as readonly string[]) {
        auditLog.append({ action: `configuration.merchant_${what}`, outcome: 'allowed', merchant });
      }
    }
    for (const reason of settings) auditLog.append({ action: 'configuration.change', outcome: 'allowed', reason });
  }

  #refused(error: unknown): void {
    const { configuration, clock, logger, auditLog, onReload } = this.#parts;
    const faults = error instanceof ConfigurationError ? error.faults : [];
    const firstFault = faults[0]?.path;
    if (error instanceof UnusableCertificate && error.usableFrom !== undefined) {
      this.#watch.readAgainAt(error.usableFrom);
    }
    configuration.lastReading.noteRefused({
      since: clock.now(),
      faults: Math.max(faults.length, 1),
      ...(firstFault === undefined ? {} : { firstFault }),
    });
    const why = error instanceof ConfigurationError ? { faults } : { error };
    logger.error(why, 'the changed configuration is not taken; the one before it stays in force');
    const removed = error instanceof TooManyRemoved ? { removed: error.removed } : {};
    auditLog.append({
      action: 'configuration.change',
      outcome: 'refused',
      reason: 'configuration_invalid',
      ...removed,
    });
    onReload(false);
  }
}

/** @throws TooManyRemoved, UnusableCertificate */
function assertTakeable(current: BrokerConfiguration, next: BrokerConfiguration, now: Instant): void {
  const ids = { before: idsOf(current), after: idsOf(next) };
  assertFewRemoved({ path: 'merchants', ...ids, maxRemoved: current.reload.maxRemoved });
  const [before, after] = [current.http.tls?.cert, next.http.tls?.cert];
  assertCertificateUsable({
    path: 'http.tls.certFile',
    before,
    after,
    files: next.files,
    warnings: next.warnings,
    now,
  });
}
