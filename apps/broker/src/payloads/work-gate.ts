import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';

export interface GateParts {
  /** Pieces of work running at once. */
  readonly inFlight: number;
  /** Pieces that may wait for their turn; any more are turned away. */
  readonly waiting: number;
  /** Once a piece of work has begun, it is waited for at most this long. */
  readonly maxMs: number;
  readonly clock: Clock;
}

/** When there may be room again: a full queue is worked off in about this time. */
const RETRY_AFTER_MS = 1_000;

/**
 * Lets a bounded amount of heavy work run at once and a bounded amount wait, first come, first served. Whatever cannot
 * wait is turned away at once: work that piles up without limit would take memory and time from everything else.
 */
export class WorkGate {
  /** Each starts a piece of work that waits. */
  readonly #waiting = new Set<() => void>();
  #inFlight = 0;

  constructor(private readonly parts: GateParts) {}

  /**
   * @param signal aborted when nobody wants the result any more: work that has not started is dropped
   * @throws BrokerError `overloaded` when too much work is waiting already or the work does not end, `shutting_down`
   *   when it was dropped
   */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (signal.aborted) throw new BrokerError('shutting_down');
    if (this.#inFlight >= this.parts.inFlight) await this.#turn(signal);
    else this.#inFlight += 1;
    try {
      return await this.#inTime(work);
    } finally {
      this.#next();
    }
  }

  /** Work that hangs must not keep its place for ever. */
  async #inTime<Result>(work: () => Promise<Result>): Promise<Result> {
    const { clock, maxMs } = this.parts;
    const overdue = Promise.withResolvers<never>();
    const limit = clock.schedule(maxMs, () =>
      overdue.reject(
        new BrokerError('overloaded', { detail: `it did not end in ${maxMs} ms`, retryAfterMs: RETRY_AFTER_MS }),
      ),
    );
    try {
      return await Promise.race([work(), overdue.promise]);
    } finally {
      limit.cancel();
    }
  }

  /** Resolves when finished work has handed over its place. */
  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.parts.waiting) {
      throw new BrokerError('overloaded', { retryAfterMs: RETRY_AFTER_MS });
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const drop = (): void =>
      reject(new BrokerError('shutting_down', { detail: 'nobody waits for the result any more' }));
    this.#waiting.add(resolve);
    signal.addEventListener('abort', drop, { once: true });
    try {
      await promise;
    } finally {
      this.#waiting.delete(resolve);
      signal.removeEventListener('abort', drop);
    }
  }

  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#inFlight -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
