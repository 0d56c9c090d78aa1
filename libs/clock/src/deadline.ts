import type { Clock, ScheduledTask } from './clock.js';

/**
 * One deadline for work that has several steps: a signal that aborts when the time is up or when the parent does. The
 * owner calls `close` when the work is done, so that neither timer nor listener outlives it.
 */
export class Deadline {
  readonly #clock: Clock;
  readonly #endsAtMs: number;
  readonly #controller = new AbortController();
  readonly #timer: ScheduledTask;
  readonly #parent: AbortSignal | undefined;
  #expired = false;

  constructor(clock: Clock, durationMs: number, parent?: AbortSignal) {
    this.#clock = clock;
    this.#endsAtMs = clock.monotonicMs() + durationMs;
    this.#parent = parent;
    this.#timer = clock.schedule(durationMs, () => {
      this.#expired = true;
      this.#controller.abort(new DOMException('the deadline passed', 'TimeoutError'));
    });
    if (parent?.aborted === true) this.#followParent();
    else parent?.addEventListener('abort', this.#followParent, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True when the time ran out, as opposed to the parent having aborted. */
  get expired(): boolean {
    return this.#expired;
  }

  remainingMs(): number {
    return Math.max(0, this.#endsAtMs - this.#clock.monotonicMs());
  }

  close(): void {
    this.#timer.cancel();
    this.#parent?.removeEventListener('abort', this.#followParent);
  }

  readonly #followParent = (): void => {
    this.#timer.cancel();
    this.#controller.abort(this.#parent?.reason);
  };
}
