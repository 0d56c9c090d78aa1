import { BrokerError } from '#libs/errors';

/**
 * How many requests may be under way. A client may have as many as would still be left for others: at most half of all
 * places, and less while others want any, so that none is ever without.
 */
export class Places {
  readonly #most: number;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @returns gives the place back
   * @throws BrokerError `overloaded`: any more would be a queue, and a payment that would wait in one is better refused
   */
  take(client: string): () => void {
    if (this.#of(client) >= this.#most - this.#all) throw new BrokerError('overloaded', { retryAfterMs: 1_000 });
    this.#change(client, 1);
    return () => this.#change(client, -1);
  }

  #change(client: string, by: 1 | -1): void {
    this.#all += by;
    this.#taken.set(client, this.#of(client) + by);
  }

  #of(client: string): number {
    return this.#taken.get(client) ?? 0;
  }
}
