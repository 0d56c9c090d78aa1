import type { Clock } from '#libs/clock';
import { someOf } from '#libs/errors';
import { assertCertificateUsable, UnusableCertificate } from './certificates.js';
import { assertFewRemoved, isSame, type NamesBetween, namesBetween, TooManyRemoved } from './changes.js';
import type { Findings } from './configuration-kind.js';
import { ConfigurationWatch } from './configuration-watch.js';
import { ConfigurationError, type Fault } from './fault.js';
import { type ReloadLogger, tellReading } from './told-reading.js';

interface Reloaded extends Findings {
  readonly reload: { readonly watch: boolean; readonly everyMs: number; readonly maxRemoved: number };
}

interface Taken<Change> {
  readonly change: Change;
  readonly awaitingRestart: readonly string[];
  /** Something has changed, or is right again. */
  readonly isNews: boolean;
}

interface Refused {
  readonly faults: readonly Fault[];
  /** How many items of the list it would have removed, if that was the reason. */
  readonly removed?: number;
}

/** What a change of its configuration means to a program. A change is lists of names, never of values. */
interface ReloadsParts<Configuration extends Reloaded, Change extends NamesBetween> {
  readonly source: {
    load(): Promise<Configuration>;
    stamp(): Promise<string>;
    readonly loadedStamp: string;
  };
  readonly clock: Clock;
  readonly logger: ReloadLogger;
  /** The page of docs/runbooks about a change that is refused or waits for a restart. */
  readonly runbook: string;
  readonly current: () => Configuration;
  /** Takes from a changed configuration whatever can change while the program runs. */
  readonly withFixedSettings: (
    current: Configuration,
    loaded: Configuration,
  ) => { readonly configuration: Configuration; readonly awaitingRestart: readonly string[] };
  /** What a file that was cut off has fewer of, and what it means that some are gone. */
  readonly list: {
    readonly path: string;
    readonly namesOf: (configuration: Configuration) => readonly string[];
    readonly gone: string;
  };
  /** What the program shows to those who connect. */
  readonly certificate: { readonly path: string; readonly of: (configuration: Configuration) => string | undefined };
  /** All or nothing: if it throws, nothing has happened. Undefined: the program ends, and nothing is told. */
  readonly changeOver: (next: Configuration, isClosed: () => boolean) => Promise<Change | undefined> | Change;
  readonly onTaken: (taken: Taken<Change>) => void;
  readonly onRefused: (refused: Refused) => void;
}

/** Applies changed files without a restart. A configuration with a fault changes nothing. */
export class Reloads<Configuration extends Reloaded = Reloaded, Change extends NamesBetween = NamesBetween> {
  readonly #parts: ReloadsParts<Configuration, Change>;
  readonly #watch: ConfigurationWatch;
  #wasRefused = false;
  #awaitingRestart: readonly string[] = [];
  /** Of the last reading that was taken. */
  #warnings: Findings['warnings'];

  constructor(parts: ReloadsParts<Configuration, Change>) {
    const { source, clock, logger, current } = parts;
    this.#parts = parts;
    this.#warnings = current().warnings;
    this.#watch = new ConfigurationWatch({
      source,
      clock,
      pace: () => current().reload,
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
    const { source, current, withFixedSettings, changeOver } = this.#parts;
    try {
      const loaded = await source.load();
      if (this.#watch.isClosed) return;
      const { configuration, awaitingRestart } = withFixedSettings(current(), loaded);
      this.#assertTakeable(current(), configuration);
      const change = await changeOver(configuration, () => this.#watch.isClosed);
      if (change !== undefined) this.#taken(change, awaitingRestart, loaded.warnings);
    } catch (error) {
      this.#refused(error);
    }
  }

  /** @throws TooManyRemoved, UnusableCertificate */
  #assertTakeable(current: Configuration, next: Configuration): void {
    const { list, certificate, clock } = this.#parts;
    const names = { before: list.namesOf(current), after: list.namesOf(next) };
    assertFewRemoved({ path: list.path, ...names, maxRemoved: current.reload.maxRemoved });
    const certificates = { path: certificate.path, before: certificate.of(current), after: certificate.of(next) };
    assertCertificateUsable({ ...certificates, files: next.files, warnings: next.warnings, now: clock.now() });
  }

  #taken(change: Change, awaitingRestart: readonly string[], warnings: Findings['warnings']): void {
    const { logger, list, runbook, onTaken } = this.#parts;
    const { removed } = change;
    const inForce: Readonly<Record<string, readonly string[]>> = Object.fromEntries(Object.entries(change));
    const hasChanged = Object.values(inForce).some((names) => names.length > 0);
    // A file that may arrive later can be missing although nothing has changed: that is told once.
    const known = hasChanged ? [] : this.#warnings;
    for (const warning of warnings.filter((one) => !known.some((each) => isSame(each, one))))
      logger.warn(warning, 'configuration warning');
    const [wasRefused, before] = [this.#wasRefused, this.#awaitingRestart];
    [this.#wasRefused, this.#awaitingRestart, this.#warnings] = [false, awaitingRestart, warnings];
    const waiting = { settings: awaitingRestart, change: namesBetween(before, awaitingRestart), runbook };
    tellReading(logger, { inForce, waiting, wasRefused });
    if (removed.length > 0) logger.warn({ removed: someOf(removed), count: removed.length }, list.gone);
    onTaken({ change, awaitingRestart, isNews: wasRefused || hasChanged });
  }

  #refused(error: unknown): void {
    this.#wasRefused = true;
    if (error instanceof UnusableCertificate && error.usableFrom !== undefined) {
      this.#watch.readAgainAt(error.usableFrom);
    }
    const faults = error instanceof ConfigurationError ? error.faults : [];
    const why = error instanceof ConfigurationError ? { faults } : { error };
    this.#parts.logger.error(why, 'the changed configuration is not taken; the one before it stays in force');
    this.#parts.onRefused({ faults, ...(error instanceof TooManyRemoved && { removed: error.removed }) });
  }
}
