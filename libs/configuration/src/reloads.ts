import type { Clock, ScheduledTask } from '#libs/clock';
import { someOf } from '#libs/errors';
import { assertCertificateUsable } from './certificates.js';
import { assertFewRemoved, isSame, type NamesBetween, namesBetween } from './changes.js';
import { ConfigurationError, type Fault } from './fault.js';
import type { Findings } from './rule.js';

interface Reloaded extends Findings {
  readonly reload: { readonly watch: boolean; readonly everyMs: number; readonly maxRemoved: number };
}

type Line = (fields: object, message: string) => void;

/** What a change of its configuration means to a program. A change is lists of names, never of values. */
interface ReloadsParts<Configuration extends Reloaded, Change extends NamesBetween> {
  readonly source: {
    load(): Promise<Configuration>;
    stamp(): Promise<string>;
    readonly loadedStamp: string;
  };
  readonly clock: Clock;
  /** As much of a log as is needed here. */
  readonly logger: Readonly<Record<'debug' | 'info' | 'warn' | 'error', Line>>;
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
  /** `isNews`: something has changed, or is right again. */
  readonly onTaken: (taken: { change: Change; awaitingRestart: readonly string[]; isNews: boolean }) => void;
  readonly onRefused: (faults: readonly Fault[]) => void;
}

/** Several files change one after the other: they are read once nothing has happened for this long. */
const SETTLED_AFTER_MS = 1_000;
const IN_FORCE = 'the changed configuration is in force';

/**
 * Applies changed files without a restart. A configuration with a fault changes nothing. Changes are noticed by polling
 * instead of notifications: that works on every file system and through every link, and costs one `stat` per file.
 */
export class Reloads<Configuration extends Reloaded = Reloaded, Change extends NamesBetween = NamesBetween> {
  readonly #parts: ReloadsParts<Configuration, Change>;
  #look: ScheduledTask | undefined;
  /** A state of the files that was seen once: it counts once it is seen again. */
  #seen: string | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #wasRefused = false;
  #awaitingRestart: readonly string[] = [];
  /** Of the last reading that was taken. */
  #warnings: Findings['warnings'];

  constructor(parts: ReloadsParts<Configuration, Change>) {
    this.#parts = parts;
    this.#warnings = parts.current().warnings;
  }

  start(): void {
    this.#lookIn(this.#parts.current().reload.everyMs);
  }

  /**
   * Reads the files now, changed or not. One reading at a time; a request during a reading causes another one after it.
   */
  reload(): Promise<void> {
    this.#again = this.#running !== undefined;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Stops watching. A reading in progress comes to nothing. */
  close(): void {
    this.#closed = true;
    this.#look?.cancel();
  }

  /** Only one look is scheduled at a time: the latest request wins. */
  #lookIn(delayMs: number): void {
    if (this.#closed) return;
    this.#look?.cancel();
    this.#look = this.#parts.clock.schedule(delayMs, () => void this.#lookAndGoOn());
  }

  async #lookAndGoOn(): Promise<void> {
    const { current, logger } = this.#parts;
    let isSettling = false;
    try {
      isSettling = current().reload.watch && (await this.#lookOnce());
    } catch (error) {
      logger.error({ error }, 'the files of the configuration cannot be looked at');
    }
    this.#lookIn(isSettling ? SETTLED_AFTER_MS : current().reload.everyMs);
  }

  /** @returns whether the files may still be changing */
  async #lookOnce(): Promise<boolean> {
    const { source } = this.#parts;
    const stamp = await source.stamp();
    const hasChanged = stamp !== source.loadedStamp;
    const isSettling = hasChanged && stamp !== this.#seen;
    this.#seen = isSettling ? stamp : undefined;
    if (hasChanged && !isSettling) await this.reload();
    return isSettling;
  }

  async #run(): Promise<void> {
    do {
      this.#again = false;
      await this.#take();
    } while (this.#again && !this.#closed);
    // The pace may have changed.
    if (this.#look !== undefined) this.#lookIn(this.#parts.current().reload.everyMs);
  }

  async #take(): Promise<void> {
    const { source, current, withFixedSettings, changeOver } = this.#parts;
    try {
      const loaded = await source.load();
      if (this.#closed) return;
      const { configuration, awaitingRestart } = withFixedSettings(current(), loaded);
      this.#assertTakeable(current(), configuration);
      const change = await changeOver(configuration, () => this.#closed);
      if (change !== undefined) this.#taken(change, awaitingRestart, loaded.warnings);
    } catch (error) {
      this.#refused(error);
    }
  }

  /** @throws ConfigurationError */
  #assertTakeable(current: Configuration, next: Configuration): void {
    const { list, certificate, clock } = this.#parts;
    const names = { before: list.namesOf(current), after: list.namesOf(next) };
    assertFewRemoved({ path: list.path, ...names, maxRemoved: current.reload.maxRemoved });
    const certificates = { before: certificate.of(current), after: certificate.of(next) };
    assertCertificateUsable({ path: certificate.path, ...certificates, warnings: next.warnings, now: clock.now() });
  }

  /** Tells in one line, by names alone, what is in force now and what waits for the next start. */
  #taken(change: Change, awaitingRestart: readonly string[], warnings: Findings['warnings']): void {
    const { logger, list, runbook, onTaken } = this.#parts;
    const inForce: readonly (readonly [string, readonly string[]])[] = Object.entries(change);
    const hasChanged = inForce.some(([, names]) => names.length > 0);
    // A file that may arrive later can be missing although nothing has changed: that is told once.
    const known = hasChanged ? [] : this.#warnings;
    for (const warning of warnings.filter((one) => !known.some((each) => isSame(each, one))))
      logger.warn(warning, 'configuration warning');
    const isNews = this.#wasRefused || hasChanged;
    const waiting = namesBetween(this.#awaitingRestart, awaitingRestart);
    [this.#wasRefused, this.#awaitingRestart, this.#warnings] = [false, awaitingRestart, warnings];
    const fields = {
      ...(hasChanged && Object.fromEntries(inForce.map(([what, names]) => [what, someOf(names)]))),
      ...(awaitingRestart.length > 0 && { awaitingRestart: someOf(awaitingRestart) }),
    };
    if (waiting.added.length > 0)
      logger.warn({ ...fields, runbook }, `${IN_FORCE}, but for settings that take effect with the next start`);
    else if (isNews || waiting.removed.length > 0) logger.info(fields, IN_FORCE);
    else logger.debug(fields, 'the configuration was read again and says the same');
    const { removed } = change;
    if (removed.length > 0) logger.warn({ removed: someOf(removed), count: removed.length }, list.gone);
    onTaken({ change, awaitingRestart, isNews });
  }

  #refused(error: unknown): void {
    this.#wasRefused = true;
    const faults = error instanceof ConfigurationError ? error.faults : [];
    const why = error instanceof ConfigurationError ? { faults } : { error };
    this.#parts.logger.error(why, 'the changed configuration is not taken; the one before it stays in force');
    this.#parts.onRefused(faults);
  }
}
