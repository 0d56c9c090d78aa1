/** So many pieces of work at once, in the order in which they came. */
export class Lanes {
  readonly #width: number;
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #running = new Set<Promise<void>>();

  constructor(width: number) {
    this.#width = width;
  }

  /** @param work never rejects */
  run(work: () => Promise<void>): void {
    this.#waiting.push(work);
    this.#next();
  }

  /** Resolves when nothing is left. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #next(): void {
    if (this.#running.size >= this.#width) return;
    const work = this.#waiting.shift();
    if (work === undefined) return;
    const running = work().finally(() => {
      this.#running.delete(running);
      this.#next();
    });
    this.#running.add(running);
  }
}
