import type { FailureBoard } from './failure-board.js';
import type { HeldSessions } from './held-sessions.js';

export interface AwaitedChange {
  readonly merchant: string;
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

  constructor(held: HeldSessions, failures: FailureBoard, awaited: AwaitedChange) {
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
    const { merchant, generation, signal } = awaited;
    if (signal.aborted || held.generationOf(merchant) > generation) {
      this.end();
      return;
    }
    const end = (): void => this.end();
    this.#subscriptions.push(
      held.onNewer(merchant, (session) => session.generation > generation && end()),
      () => signal.removeEventListener('abort', end),
    );
    if (awaited.orFailure) this.#subscriptions.push(failures.onFailure(merchant, end));
    signal.addEventListener('abort', end, { once: true });
  }

  /** Idempotent. */
  end(): void {
    for (const endSubscription of this.#subscriptions.splice(0)) endSubscription();
    this.#resolve();
  }
}
