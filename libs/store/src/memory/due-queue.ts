import { MinHeap } from './min-heap.js';

interface Entry {
  readonly merchant: string;
  readonly dueAtMs: number;
  /** Keeps merchants that fall due at the same moment in the order in which they were scheduled. */
  readonly order: number;
}

const isBefore = (a: Entry, b: Entry): boolean =>
  a.dueAtMs < b.dueAtMs || (a.dueAtMs === b.dueAtMs && a.order < b.order);

export interface DueListing {
  readonly merchants: readonly string[];
  /** The moment of the next merchant after these; it may have passed when the limit cut the list short. */
  readonly nextDueAtMs: number | undefined;
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

  dueAtMs(merchant: string): number | undefined {
    return this.#current.get(merchant)?.dueAtMs;
  }

  set(merchant: string, dueAtMs: number): void {
    const entry = { merchant, dueAtMs, order: this.#order++ };
    this.#current.set(merchant, entry);
    this.#heap.push(entry);
    if (this.#heap.size > 2 * this.#current.size) this.#dropLeftovers();
  }

  /** Up to `limit` merchants whose moment is `nowMs` or before, the longest due first. They stay in the queue. */
  list(nowMs: number, limit: number): DueListing {
    const listed: Entry[] = [];
    for (let top = this.#top(); top !== undefined && top.dueAtMs <= nowMs && listed.length < limit; top = this.#top()) {
      listed.push(top);
      this.#heap.pop();
    }
    const nextDueAtMs = this.#top()?.dueAtMs;
    for (const entry of listed) this.#heap.push(entry);
    return { merchants: listed.map((entry) => entry.merchant), nextDueAtMs };
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
