import type { Clock } from '#libs/clock';

/** Delays owned by the sandbox: when it closes, nothing waits any longer and no timer is left. */
export class Waiting {
  readonly #clock: Clock;
  readonly #pending = new Set<() => void>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many are waiting. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Resolves after `delayMs`, or earlier if the signal aborts or the sandbox closes. */
  delay(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (this.#isClosed || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        task.cancel();
        this.#pending.delete(finish);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const task = this.#clock.schedule(delayMs, finish);
      this.#pending.add(finish);
      signal?.addEventListener('abort', finish, { once: true });
    });
  }

  /** Runs `task` after `delayMs`, unless the sandbox closes first. */
  later(delayMs: number, task: () => void): void {
    void this.delay(delayMs).then(() => {
      if (!this.#isClosed) task();
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const finish of [...this.#pending]) finish();
  }
}
