import { Alarm, type Clock, type ScheduledTask } from '#libs/clock';

export const PAGE = 500;
/** Queries in flight at once: one that hangs does not hold up the others. */
const LANES = 4;
/** A connection that was cut is back by then, and what a replica serves meanwhile is dead for less than a second. */
const RETRY_MS = 500;
/** Whatever is not urgent waits this long, so that more can be asked for at once. */
const SOON_MS = 250;

/** So many pieces of work at once, in the order in which they came. */
export class Lanes {
  readonly #width: number;
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #running = new Set<Promise<void>>();

  constructor(width: number) {
    this.#width = width;
  }

  /** @param work never rejects */
  run(work: () => Promise<void>): void {
    this.#waiting.push(work);
    this.#next();
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #next(): void {
    if (this.#running.size >= this.#width) return;
    const work = this.#waiting.shift();
    if (work === undefined) return;
    const running = work().finally(() => {
      this.#running.delete(running);
      this.#next();
    });
    this.#running.add(running);
  }
}

/**
 * Reads merchants for which something newer may be known, level-triggered: a merchant stays wanted until a read that
 * began after it was wanted has come back, whatever else this replica does and whatever became of the message.
 */
export class Reads {
  readonly #clock: Clock;
  readonly #read: (merchants: readonly string[]) => Promise<boolean>;
  readonly #wanted = new Set<string>();
  readonly #lanes = new Lanes(LANES);
  readonly #soon: Alarm;
  #retry: ScheduledTask | undefined;
  #closed = false;

  /** @param read reads the merchants' states and applies them; false if the store could not be heard. Never rejects */
  constructor(clock: Clock, read: (merchants: readonly string[]) => Promise<boolean>) {
    this.#clock = clock;
    this.#read = read;
    this.#soon = new Alarm(clock, () => this.#start());
  }

  /** Those that are wanted in one turn are read with one query; if no newer session is expected, in a quarter second. */
  want(merchant: string, isUrgent = true): void {
    if (this.#closed) return;
    this.#wanted.add(merchant);
    // The first start of a turn takes all that are wanted by then.
    if (isUrgent) queueMicrotask(() => this.#start());
    else this.#soon.in(SOON_MS);
  }

  /** The store may be answering again: whatever is waiting is asked for at once. */
  retryNow(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#start();
  }

  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    this.#soon.close();
    this.#wanted.clear();
  }

  #start(): void {
    if (this.#retry !== undefined) return;
    const all = [...this.#wanted];
    this.#wanted.clear();
    for (let at = 0; at < all.length; at += PAGE) this.#lanes.run(() => this.#readPage(all.slice(at, at + PAGE)));
  }

  async #readPage(page: readonly string[]): Promise<void> {
    const isRead = this.#retry === undefined && !this.#closed && (await this.#read(page));
    if (isRead || this.#closed) return;
    for (const merchant of page) this.#wanted.add(merchant);
    this.#retry ??= this.#clock.schedule(RETRY_MS, () => this.retryNow());
  }
}
