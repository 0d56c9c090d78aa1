import type { StoreMoment } from './store-moment.js';

interface Entry {
  readonly merchant: string;
  readonly due: StoreMoment;
  /** Keeps merchants that fall due at the same moment in the order in which they were scheduled. */
  readonly order: number;
}

interface DueListing {
  readonly merchants: readonly string[];
  /** The moment of the next merchant after these; it may be in the past if the limit cut the list short. */
  readonly next: StoreMoment | undefined;
}

/**
 * One due moment per merchant, in order. Listing costs only what is listed; moving one shifts the others, which is fast
 * in memory.
 */
export class DueQueue {
  readonly #current = new Map<string, Entry>();
  readonly #sorted: Entry[] = [];
  #order = 0;

  momentOf(merchant: string): StoreMoment | undefined {
    return this.#current.get(merchant)?.due;
  }

  set(merchant: string, due: StoreMoment): void {
    const before = this.#current.get(merchant);
    if (before !== undefined) this.#sorted.splice(this.#placeOf(before), 1);
    const entry = { merchant, due, order: this.#order++ };
    this.#current.set(merchant, entry);
    this.#sorted.splice(this.#placeOf(entry), 0, entry);
  }

  /**
   * Up to `limit` merchants whose moment is `nowMs` or earlier, those that have been due longest first. They stay in
   * the queue.
   */
  list(nowMs: number, limit: number): DueListing {
    const merchants: string[] = [];
    for (const { merchant, due } of this.#sorted) {
      if (due.endsAtMs > nowMs || merchants.length >= limit) break;
      merchants.push(merchant);
    }
    return { merchants, next: this.#sorted[merchants.length]?.due };
  }

  /** The number of entries before it. */
  #placeOf({ due, order }: Entry): number {
    let from = 0;
    let to = this.#sorted.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const entry = this.#sorted[middle];
      const comesBefore =
        entry !== undefined &&
        (entry.due.endsAtMs < due.endsAtMs || (entry.due.endsAtMs === due.endsAtMs && entry.order < order));
      if (comesBefore) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
