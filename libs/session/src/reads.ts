import type { Clock, ScheduledTask } from '#libs/clock';

/** Merchants per query to the store. */
export const PAGE = 500;
/** Queries in flight at once: one that hangs does not hold up the others. */
const LANES = 4;
/** Between a failed query and the next one. */
const RETRY_MS = 1_000;
/** Whatever is not urgent waits this long, so that more can be asked for at once. */
const SOON_MS = 250;

interface ReadsParts {
  readonly clock: Clock;
  /** Reads the merchants' states and applies them; rejects if the store could not be heard. */
  readonly read: (merchants: readonly string[]) => Promise<void>;
  /** The store failed; anything else is a bug of ours. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Reads merchants for which something newer may be known, level-triggered: a merchant stays wanted until a read that
 * began after it was wanted has come back, whatever else this replica does and whatever became of the message.
 */
export class Reads {
  readonly #parts: ReadsParts;
  readonly #wanted = new Set<string>();
  #lanes = 0;
  #retry: ScheduledTask | undefined;
  #soon: ScheduledTask | undefined;
  #isStarting = false;
  #closed = false;

  constructor(parts: ReadsParts) {
    this.#parts = parts;
  }

  /** Those that are wanted in one turn are read with one query. */
  want(merchant: string): void {
    if (this.#closed) return;
    this.#wanted.add(merchant);
    if (this.#isStarting || this.#retry !== undefined) return;
    this.#isStarting = true;
    void Promise.resolve().then(() => {
      this.#isStarting = false;
      if (this.#retry === undefined) this.#start();
    });
  }

  /** The same if no newer session is expected: many are read with one query. */
  wantSoon(merchant: string): void {
    if (this.#closed) return;
    this.#wanted.add(merchant);
    this.#soon ??= this.#parts.clock.schedule(SOON_MS, () => {
      this.#soon = undefined;
      if (this.#retry === undefined) this.#start();
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
    while (!this.#closed && this.#lanes < LANES && this.#wanted.size > 0) {
      this.#lanes += 1;
      void this.#readPage([...this.#wanted].slice(0, PAGE));
    }
  }

  async #readPage(page: readonly string[]): Promise<void> {
    for (const merchant of page) this.#wanted.delete(merchant);
    try {
      await this.#parts.read(page);
    } catch (error) {
      this.#parts.onFailure(error);
      this.#tryLater(page);
    } finally {
      this.#lanes -= 1;
    }
    if (this.#retry === undefined) this.#start();
  }

  #tryLater(page: readonly string[]): void {
    if (this.#closed) return;
    for (const merchant of page) this.#wanted.add(merchant);
    this.#retry ??= this.#parts.clock.schedule(RETRY_MS, () => this.retryNow());
  }
}
