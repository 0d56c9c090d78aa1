import type { Instant } from '#libs/clock';

interface RefusedChange {
  /** Since when the files have been refused, whatever else has been changed in them meanwhile. */
  readonly since: Instant;
  /** How many faults the last reading found. */
  readonly faults: number;
  /** The setting that the first fault is about, such as `http.tls.certFile`. */
  readonly firstFault?: string;
}

/** The outcome of rereading changed files, for everything that shows it or listens for it. */
export class LastReading {
  #refused: RefusedChange | undefined;
  #awaitingRestart: readonly string[] = [];
  #awaitingSince: Instant | undefined;
  readonly #listeners: (() => void)[] = [];

  /** Undefined while the files match what is in force, or have not changed since the start. */
  get refused(): RefusedChange | undefined {
    return this.#refused;
  }

  /** The settings that have changed and only take effect at the next start. */
  get awaitingRestart(): readonly string[] {
    return this.#awaitingRestart;
  }

  /** Since when there have been any, whatever else has been changed meanwhile. */
  get awaitingSince(): Instant | undefined {
    return this.#awaitingSince;
  }

  noteTaken(awaitingRestart: readonly string[], now: Instant): void {
    this.#refused = undefined;
    this.#awaitingSince = awaitingRestart.length === 0 ? undefined : (this.#awaitingSince ?? now);
    this.#awaitingRestart = awaitingRestart;
    this.#tell();
  }

  noteRefused({ since, ...found }: RefusedChange): void {
    this.#refused = { since: this.#refused?.since ?? since, ...found };
    this.#tell();
  }

  /** Calls the listener after every reading from now on. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
