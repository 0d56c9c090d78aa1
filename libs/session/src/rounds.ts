/**
 * Rounds of work that each look at everything there is to do. One at a time; a request during a round gets one more
 * round after it, since what it concerns may have been looked at already.
 */
export class Rounds {
  readonly #round: () => Promise<void>;
  #running: Promise<void> | undefined;
  #isAskedAgain = false;
  #closed = false;

  /** @param round never rejects */
  constructor(round: () => Promise<void>) {
    this.#round = round;
  }

  /** Resolves when nothing that was asked for is left. */
  run(): Promise<void> {
    if (this.#closed) return this.#running ?? Promise.resolve();
    this.#isAskedAgain = this.#running !== undefined;
    return (this.#running ??= this.#runAll());
  }

  /** No further round begins. Resolves when the one under way has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #runAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      await this.#round();
    } while (this.#isAskedAgain && !this.#closed);
    // In the same step as the last look: a request from now on begins a run of its own.
    this.#running = undefined;
  }
}
