import type { Clock, ScheduledTask } from '#libs/clock';
import type { FailureBoard } from './failure-board.js';
import type { HeldSessions } from './held-sessions.js';

/** Added to the moment itself: the store and we do not agree to the millisecond. */
const GRACE_MS = 250;

/** A wish for a newer session that was refused only by the budget. */
export interface RefusedByBudget {
  readonly merchant: string;
  /** The generation that was known when it was asked for. */
  readonly newerThan: number;
  /** When a call is free, as far as is known. */
  readonly freeInMs: number;
}

interface KeptWish {
  readonly newerThan: number;
  readonly freeAtMs: number;
  readonly task: ScheduledTask;
}

interface KeptWishesContext {
  readonly clock: Clock;
  readonly held: Pick<HeldSessions, 'onAnyNewer'>;
  readonly failures: Pick<FailureBoard, 'onAnyFailure'>;
  /**
   * Makes it now, while it is still kept.
   * @returns for how long the budget refuses it again; undefined if anything else came of it
   */
  readonly make: (merchant: string, isStillKept: () => boolean) => Promise<number | undefined>;
  readonly onBroken: (error: unknown) => void;
}

/**
 * The wishes that this replica makes once the budget has a call free, one per merchant, in memory. A newer session is
 * what was wished for, and a failed attempt is the one the wish was waiting for, whoever made it: both end the wish.
 */
export class KeptWishes {
  readonly #context: KeptWishesContext;
  readonly #wishes = new Map<string, KeptWish>();
  readonly #endSubscriptions: readonly (() => void)[];
  #closed = false;

  constructor(context: KeptWishesContext) {
    this.#context = context;
    this.#endSubscriptions = [
      context.held.onAnyNewer(({ merchant, generation }) => this.#adopted(merchant, generation)),
      context.failures.onAnyFailure((merchant) => this.drop(merchant)),
    ];
  }

  /** Replaces the one that is kept for the merchant: what was last heard about the budget counts. */
  keep({ merchant, newerThan, freeInMs }: RefusedByBudget): void {
    this.drop(merchant);
    if (this.#closed) return;
    const { clock } = this.#context;
    const task = clock.schedule(freeInMs + GRACE_MS, () => void this.#make(merchant, wish));
    const wish = { newerThan, freeAtMs: clock.monotonicMs() + freeInMs, task };
    this.#wishes.set(merchant, wish);
  }

  /** Until the call is free with which the wish is made; undefined if none is kept, or if it is being made. */
  freeInMs(merchant: string): number | undefined {
    const wish = this.#wishes.get(merchant);
    const leftMs = wish === undefined ? 0 : wish.freeAtMs - this.#context.clock.monotonicMs();
    return leftMs > 0 ? leftMs : undefined;
  }

  drop(merchant: string): void {
    this.#wishes.get(merchant)?.task.cancel();
    this.#wishes.delete(merchant);
  }

  /** Neither keeps nor makes anything any more. */
  close(): void {
    this.#closed = true;
    for (const end of this.#endSubscriptions) end();
    for (const merchant of [...this.#wishes.keys()]) this.drop(merchant);
  }

  #adopted(merchant: string, generation: number): void {
    const wish = this.#wishes.get(merchant);
    if (wish !== undefined && generation > wish.newerThan) this.drop(merchant);
  }

  async #make(merchant: string, wish: KeptWish): Promise<void> {
    const isStillKept = (): boolean => this.#wishes.get(merchant) === wish;
    try {
      const freeInMs = await this.#context.make(merchant, isStillKept);
      if (!isStillKept()) return;
      this.drop(merchant);
      if (freeInMs !== undefined) this.keep({ merchant, newerThan: wish.newerThan, freeInMs });
    } catch (error) {
      if (isStillKept()) this.drop(merchant);
      this.#context.onBroken(error);
    }
  }
}
