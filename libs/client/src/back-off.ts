export interface BackOffOptions {
  readonly baseMs: number;
  readonly capMs: number;
  /** From 0, inclusive, to 1, exclusive. */
  readonly random: () => number;
}

/**
 * Exponential back-off with full jitter, so that a broker that comes back is not hit by all its clients at once. The
 * first wait is drawn from [0, base), the next from [0, 2 base), and so on up to the cap.
 */
export class BackOff {
  readonly #options: BackOffOptions;
  #baseMs: number;
  #failures = 0;

  constructor(options: BackOffOptions) {
    this.#options = options;
    this.#baseMs = options.baseMs;
  }

  get failures(): number {
    return this.#failures;
  }

  /** @param atLeastMs what the broker asked for; the jitter is added to it */
  nextMs(atLeastMs = 0): number {
    const { capMs, random } = this.#options;
    // 2 ** 30 keeps the product finite however long a broker is away.
    const span = Math.min(capMs, this.#baseMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return atLeastMs + random() * span;
  }

  /** The broker may ask for a different pace (the `retry` field of an event stream). */
  setBaseMs(baseMs: number): void {
    this.#baseMs = Math.min(baseMs, this.#options.capMs);
  }

  reset(): void {
    this.#failures = 0;
  }
}
