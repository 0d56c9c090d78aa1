import type { Clock, Instant, ScheduledTask } from '#libs/clock';
import type { ConfigurationSource } from './configuration-source.js';

interface WatchParts {
  readonly source: Pick<ConfigurationSource, 'stamp' | 'loadedStamp'>;
  readonly clock: Clock;
  /** From the configuration in force. */
  readonly pace: () => { readonly watch: boolean; readonly everyMs: number };
  /** Reads the configuration and applies it, or says why not. Does not throw. */
  readonly take: () => Promise<void>;
  /** The files could not even be inspected. */
  readonly onFailure: (error: unknown) => void;
}

/** Several files change one after the other: they are read once nothing has happened for this long. */
const SETTLED_AFTER_MS = 1_000;

/**
 * Notices changed files by polling instead of notifications: that works on every file system and through every link,
 * and costs one `stat` per file.
 */
export class ConfigurationWatch {
  readonly #parts: WatchParts;
  #look: ScheduledTask | undefined;
  /** A state of the files that was seen once: it counts once it is seen again. */
  #seen: string | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  /** When to read again even if no file has changed. */
  #dueAt: Instant | undefined;
  #closed = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  start(): void {
    this.#lookIn(this.#parts.pace().everyMs);
  }

  /**
   * Reads the files now, changed or not. One reading at a time; a request during a reading causes another one after it.
   */
  reload(): Promise<void> {
    this.#again = this.#running !== undefined;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** What is refused now can be accepted then, even if no file changes. Counts until the next reading. */
  readAgainAt(moment: Instant): void {
    this.#dueAt = moment;
  }

  /** Stops looking. A reading that is under way has to check whether it still counts. */
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
    let isSettling = false;
    try {
      isSettling = this.#parts.pace().watch && (await this.#lookOnce());
    } catch (error) {
      this.#parts.onFailure(error);
    }
    this.#lookIn(isSettling ? SETTLED_AFTER_MS : this.#parts.pace().everyMs);
  }

  /** @returns whether the files may still be changing */
  async #lookOnce(): Promise<boolean> {
    const { source, clock } = this.#parts;
    const stamp = await source.stamp();
    const hasChanged = stamp !== source.loadedStamp;
    const isSettling = hasChanged && stamp !== this.#seen;
    this.#seen = isSettling ? stamp : undefined;
    const isDue = this.#dueAt !== undefined && clock.now() >= this.#dueAt;
    if (!isSettling && (hasChanged || isDue)) await this.reload();
    return isSettling;
  }

  async #run(): Promise<void> {
    do {
      this.#again = false;
      this.#dueAt = undefined;
      await this.#parts.take();
    } while (this.#again && !this.#closed);
    // The pace may have changed.
    if (this.#look !== undefined) this.#lookIn(this.#parts.pace().everyMs);
  }
}
