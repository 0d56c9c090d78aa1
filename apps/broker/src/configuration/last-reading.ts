import type { Instant } from '#libs/clock';

interface RefusedChange {
  /** Since when the files have been refused, whatever else was changed in them meanwhile. */
  readonly since: Instant;
  /** How many faults the last reading found. */
  readonly faults: number;
  /** The setting that the first of them is about, such as `http.tls.certFile`. */
  readonly firstFault?: string;
}

/** What became of the changed files, for everything that shows or listens. */
export class LastReading {
  #refused: RefusedChange | undefined;
  #awaitingRestart: readonly string[] = [];
  #awaitingSince: Instant | undefined;
  readonly #listeners: (() => void)[] = [];

  /** Undefined while the files say what is in force, or nothing was changed since the start. */
  get refused(): RefusedChange | undefined {
    return this.#refused;
  }

  /** The settings that have changed and take effect with the next start. */
  get awaitingRestart(): readonly string[] {
    return this.#awaitingRestart;
  }

  /** Since when there are any, whatever else was changed meanwhile. */
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

  /** Told of every reading from now on. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
