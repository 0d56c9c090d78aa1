import { MinHeap } from './min-heap.js';
import type { StoreMoment } from './store-moment.js';

interface Entry {
  readonly merchant: string;
  readonly due: StoreMoment;
  /** Keeps merchants that fall due at the same moment in the order in which they were scheduled. */
  readonly order: number;
}

const isBefore = (a: Entry, b: Entry): boolean =>
  a.due.endsAtMs < b.due.endsAtMs || (a.due.endsAtMs === b.due.endsAtMs && a.order < b.order);

interface DueListing {
  readonly merchants: readonly string[];
  /** The moment of the next merchant after these; it may have passed when the limit cut the list short. */
  readonly next: StoreMoment | undefined;
}

/**
 * One due moment per merchant. Moving one costs O(log n), listing costs O(listed × log n), never O(merchants): a moved
 * merchant leaves its old entry behind, and the entry is dropped when it surfaces or when such leftovers are the majority.
 */
export class DueQueue {
  readonly #current = new Map<string, Entry>();
  #heap = new MinHeap(isBefore);
  #order = 0;

  /** Entries held, leftovers included. */
  get size(): number {
    return this.#heap.size;
  }

  momentOf(merchant: string): StoreMoment | undefined {
    return this.#current.get(merchant)?.due;
  }

  set(merchant: string, due: StoreMoment): void {
    const entry = { merchant, due, order: this.#order++ };
    this.#current.set(merchant, entry);
    this.#heap.push(entry);
    if (this.#heap.size > 2 * this.#current.size) this.#dropLeftovers();
  }

  /** Up to `limit` merchants whose moment is `nowMs` or before, the longest due first. They stay in the queue. */
  list(nowMs: number, limit: number): DueListing {
    const listed: Entry[] = [];
    const isListed = (top: Entry): boolean => top.due.endsAtMs <= nowMs && listed.length < limit;
    for (let top = this.#top(); top !== undefined && isListed(top); top = this.#top()) {
      listed.push(top);
      this.#heap.pop();
    }
    const next = this.#top()?.due;
    for (const entry of listed) this.#heap.push(entry);
    return { merchants: listed.map((entry) => entry.merchant), next };
  }

  #top(): Entry | undefined {
    let top = this.#heap.peek();
    while (top !== undefined && this.#current.get(top.merchant) !== top) {
      this.#heap.pop();
      top = this.#heap.peek();
    }
    return top;
  }

  #dropLeftovers(): void {
    this.#heap = new MinHeap(isBefore);
    for (const entry of this.#current.values()) this.#heap.push(entry);
  }
}
