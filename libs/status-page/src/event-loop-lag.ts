import type { Clock, ScheduledTask } from '#libs/clock';

const EVERY_MS = 500;
/** One minute. */
const MAX_SAMPLES = 120;

/** How late timers fire on this replica: everything else that waits for the event loop has to wait as long. */
export class EventLoopLag {
  readonly #clock: Clock;
  readonly #samples: number[] = [];
  #task: ScheduledTask | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs until it is closed. */
  start(): void {
    this.#wait();
  }

  get latestMs(): number {
    return this.#samples.at(-1) ?? 0;
  }

  /** In the last minute. */
  get worstMs(): number {
    return Math.max(0, ...this.#samples);
  }

  close(): void {
    this.#task?.cancel();
  }

  #wait(): void {
    const dueAtMs = this.#clock.monotonicMs() + EVERY_MS;
    this.#task = this.#clock.schedule(EVERY_MS, () => {
      this.#samples.push(Math.max(0, this.#clock.monotonicMs() - dueAtMs));
      if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
      this.#wait();
    });
  }
}
