import { BrokerError } from '#libs/errors';

/**
 * How many requests may be under way. A client may have as many as would still be left for others: at most half of all
 * places, and less while others want any, so that none is ever without.
 */
export class Places {
  readonly #most: number;
  readonly #clients = new Map<string, { taken: number }>();
  #all = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @returns gives the place back
   * @throws BrokerError `overloaded`: any more would be a queue, and a payment that would wait in one is better refused
   */
  take(client: string): () => void {
    const own = this.#clients.get(client) ?? { taken: 0 };
    if (own.taken >= this.#most - this.#all) throw new BrokerError('overloaded', { retryAfterMs: 1_000 });
    if (own.taken === 0) this.#clients.set(client, own);
    own.taken += 1;
    this.#all += 1;
    return () => {
      own.taken -= 1;
      this.#all -= 1;
      if (own.taken === 0) this.#clients.delete(client);
    };
  }
}
