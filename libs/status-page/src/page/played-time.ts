/** Time for the page's tests: it passes only when told to, and the browser's own is not needed. */
export class PlayedTime {
  #nowMs = 0;
  readonly #waiting = new Set<{ readonly atMs: number; readonly task: () => void }>();

  readonly monotonicMs = (): number => this.#nowMs;

  readonly after = (delayMs: number, task: () => void): (() => void) => {
    const entry = { atMs: this.#nowMs + delayMs, task };
    this.#waiting.add(entry);
    return () => void this.#waiting.delete(entry);
  };

  get waiting(): number {
    return this.#waiting.size;
  }

  async advance(durationMs: number): Promise<void> {
    const endsAtMs = this.#nowMs + durationMs;
    await settled();
    for (let next = this.#nextUntil(endsAtMs); next !== undefined; next = this.#nextUntil(endsAtMs)) {
      this.#nowMs = next.atMs;
      this.#waiting.delete(next);
      next.task();
      await settled();
    }
    this.#nowMs = endsAtMs;
  }

  #nextUntil(endsAtMs: number): { readonly atMs: number; readonly task: () => void } | undefined {
    const due = [...this.#waiting].filter(({ atMs }) => atMs <= endsAtMs);
    return due.sort((left, right) => left.atMs - right.atMs)[0];
  }
}

/** Everything here settles within a few turns of the microtask queue. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}
