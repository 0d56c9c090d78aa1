import type { Entry } from './held-sessions.js';
import { generationOf } from './merchant.js';

interface AwaitedChange {
  /** Wait for a generation above this one. */
  readonly generation: number;
  /** Whether a failed attempt ends the wait as well. */
  readonly orFailure: boolean;
  readonly signal: AbortSignal;
}

/**
 * One wait for something to change for a merchant. Whoever starts it calls `end`, so that no listener is left behind.
 */
export class ChangeWait {
  readonly ended: Promise<void>;
  readonly #subscriptions: (() => void)[] = [];
  #resolve: () => void = () => undefined;

  constructor(entry: Entry, { generation, orFailure, signal }: AwaitedChange) {
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
    if (signal.aborted || generationOf(entry.merchant) > generation) {
      this.end();
      return;
    }
    const end = (): void => this.end();
    const ifNewer = (session: { readonly generation: number }): void => {
      if (session.generation > generation) end();
    };
    entry.newer.add(ifNewer);
    if (orFailure) entry.failed.add(end);
    signal.addEventListener('abort', end, { once: true });
    this.#subscriptions.push(
      () => entry.newer.delete(ifNewer),
      () => entry.failed.delete(end),
      () => signal.removeEventListener('abort', end),
    );
  }

  /** Idempotent. */
  end(): void {
    for (const endSubscription of this.#subscriptions.splice(0)) endSubscription();
    this.#resolve();
  }
}
