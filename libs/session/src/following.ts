import type { Clock, ScheduledTask } from '#libs/clock';

/** Merchants per query to the store. */
export const PAGE = 500;
/** Queries in flight at once: one that hangs does not hold up the others. */
const LANES = 4;
/** Between a failed query and the next one. */
const RETRY_MS = 1_000;
/** Whatever is not urgent waits this long, so that more can be asked for at once. */
const SOON_MS = 250;

interface FollowingParts {
  readonly clock: Clock;
  /** Reads the merchants' states and applies them; rejects if the store could not be heard. */
  readonly read: (merchants: readonly string[]) => Promise<void>;
  /** The store failed; anything else is a bug of ours. */
  readonly onFailure: (merchants: readonly string[], error: unknown) => void;
}

/**
 * Reads merchants for which something newer may be known, level-triggered: a merchant stays wanted until a read that
 * began after it was wanted has come back, whatever else this replica does and whatever became of the message.
 */
export class Following {
  readonly #parts: FollowingParts;
  readonly #wanted = new Set<string>();
  #lanes = 0;
  #retry: ScheduledTask | undefined;
  #soon: ScheduledTask | undefined;
  #closed = false;

  constructor(parts: FollowingParts) {
    this.#parts = parts;
  }

  want(merchants: Iterable<string>): void {
    if (this.#closed) return;
    for (const merchant of merchants) this.#wanted.add(merchant);
    if (this.#retry === undefined) this.#start();
  }

  /** The same if no newer session is expected: many are read with one query. */
  wantSoon(merchant: string): void {
    if (this.#closed) return;
    this.#wanted.add(merchant);
    this.#soon ??= this.#parts.clock.schedule(SOON_MS, () => {
      this.#soon = undefined;
      this.want([]);
    });
  }

  /** The store may be answering again: whatever is waiting is asked for at once. */
  retryNow(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#start();
  }

  forget(merchant: string): void {
    this.#wanted.delete(merchant);
  }

  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    this.#soon?.cancel();
    this.#wanted.clear();
  }

  #start(): void {
    if (this.#closed || this.#lanes >= LANES || this.#wanted.size === 0) return;
    this.#lanes += 1;
    void this.#readPage();
  }

  async #readPage(): Promise<void> {
    const page = this.#takePage();
    try {
      await this.#parts.read(page);
    } catch (error) {
      this.#parts.onFailure(page, error);
      this.#tryLater(page);
    } finally {
      this.#lanes -= 1;
    }
    if (this.#retry === undefined) this.#start();
  }

  #takePage(): readonly string[] {
    const page: string[] = [];
    for (const merchant of this.#wanted) {
      if (page.length === PAGE) break;
      page.push(merchant);
    }
    for (const merchant of page) this.#wanted.delete(merchant);
    if (this.#wanted.size > 0) this.#start();
    return page;
  }

  #tryLater(page: readonly string[]): void {
    if (this.#closed) return;
    for (const merchant of page) this.#wanted.add(merchant);
    this.#retry ??= this.#parts.clock.schedule(RETRY_MS, () => this.retryNow());
  }
}
