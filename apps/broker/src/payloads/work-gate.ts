import { BrokerError } from '#libs/errors';

export interface GateSize {
  /** Pieces of work under way at once. */
  readonly inFlight: number;
  /** Pieces that may wait for their turn; more are turned away. */
  readonly waiting: number;
}

type Start = () => void;

/** How soon a place can be had again: a full queue is worked off in about this time. */
const RETRY_AFTER_MS = 1_000;

/**
 * Lets so much heavy work in at once and so much wait, first come first served. What cannot wait is turned away at
 * once: work that piles up without end would take memory and time from everything else.
 */
export class WorkGate {
  readonly #size: GateSize;
  readonly #waiting = new Set<Start>();
  #inFlight = 0;

  constructor(size: GateSize) {
    this.#size = size;
  }

  /**
   * @param signal nobody wants the result any more: work that has not started is dropped
   * @throws BrokerError `overloaded` when too many wait already, `shutting_down` when it was dropped
   */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (signal.aborted) throw new BrokerError('shutting_down');
    if (this.#inFlight >= this.#size.inFlight) await this.#turn(signal);
    else this.#inFlight += 1;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Resolves when the place of somebody who is done has been handed over. */
  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#size.waiting) {
      throw new BrokerError('overloaded', { retryAfterMs: RETRY_AFTER_MS });
    }
    return new Promise((resolve, reject) => {
      const drop = (): void => {
        this.#waiting.delete(start);
        reject(new BrokerError('shutting_down', { detail: 'nobody waits for the result any more' }));
      };
      const start: Start = () => {
        signal.removeEventListener('abort', drop);
        resolve();
      };
      this.#waiting.add(start);
      signal.addEventListener('abort', drop, { once: true });
    });
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
