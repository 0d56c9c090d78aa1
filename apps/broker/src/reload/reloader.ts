import type { Clock } from '#libs/clock';
import { ConfigurationError, type ConfigurationSource, ConfigurationWatch } from '#libs/configuration';
import type { AuditLog, Logger } from '#libs/telemetry';
import type { ChangeOver } from './change-over.js';
import { type ConfigurationChange, isEmpty } from './configuration-change.js';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { withFixedSettings } from './fixed-settings.js';

interface ReloaderParts {
  readonly source: Pick<ConfigurationSource, 'load' | 'stamp' | 'loadedStamp'>;
  readonly configuration: ConfigurationInForce;
  readonly changeOver: Pick<ChangeOver, 'to'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly auditLog: AuditLog;
  /** Told of each attempt. */
  readonly onReload: (taken: boolean) => void;
}

/** Names in one log line. */
const MAX_NAMED = 20;

/** Takes changed files without a restart. A configuration with a fault changes nothing. */
export class Reloader {
  readonly #parts: ReloaderParts;
  readonly #watch: ConfigurationWatch;
  #awaitingRestart = '';

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

  /** Reads the files now, changed or not. One reading at a time; a wish during one is followed by another. */
  reload(): Promise<void> {
    return this.#watch.reload();
  }

  /** Looks no more. A reading that is under way comes to nothing. */
  close(): void {
    this.#watch.close();
  }

  async #take(): Promise<void> {
    const { source, configuration, changeOver, logger } = this.#parts;
    try {
      const loaded = await source.load();
      if (this.#watch.isClosed) return;
      const { configuration: next, awaitingRestart } = withFixedSettings(configuration.current, loaded);
      const change = changeOver.to(next);
      if (!isEmpty(change)) for (const warning of loaded.warnings) logger.warn(warning, 'configuration warning');
      this.#taken(change);
      this.#tellAwaitingRestart(awaitingRestart);
    } catch (error) {
      this.#refused(error);
    }
  }

  #taken(change: ConfigurationChange): void {
    const { logger, onReload } = this.#parts;
    onReload(true);
    if (isEmpty(change)) return logger.debug({}, 'the configuration was read again and says the same');
    const { merchants, settings } = change;
    const named = {
      added: someOf(merchants.added),
      removed: someOf(merchants.removed),
      changed: someOf(merchants.changed),
    };
    logger.info({ ...named, settings }, 'the changed configuration is in force');
    this.#record(change);
  }

  #record({ merchants, settings }: ConfigurationChange): void {
    const { auditLog } = this.#parts;
    for (const [what, ids] of Object.entries(merchants)) {
      for (const merchant of ids as readonly string[]) {
        auditLog.append({ action: `configuration.merchant_${what}`, outcome: 'allowed', merchant });
      }
    }
    for (const reason of settings) auditLog.append({ action: 'configuration.change', outcome: 'allowed', reason });
  }

  #refused(error: unknown): void {
    const { logger, auditLog, onReload } = this.#parts;
    const why = error instanceof ConfigurationError ? { faults: error.faults } : { error };
    logger.error(why, 'the changed configuration is not taken; the one before it stays in force');
    auditLog.append({ action: 'configuration.change', outcome: 'refused', reason: 'configuration_invalid' });
    onReload(false);
  }

  /** Once for each set of them, not with every file that changes afterwards. */
  #tellAwaitingRestart(settings: readonly string[]): void {
    const text = settings.join(' ');
    if (text !== this.#awaitingRestart && text !== '') {
      this.#parts.logger.warn({ settings }, 'these settings have changed and take effect with the next start');
    }
    this.#awaitingRestart = text;
  }
}

function someOf(ids: readonly string[]): readonly string[] {
  return ids.length <= MAX_NAMED ? ids : [...ids.slice(0, MAX_NAMED), `and ${ids.length - MAX_NAMED} more`];
}
