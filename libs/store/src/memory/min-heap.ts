/** A binary heap: the smallest item by `isBefore` is on top. */
export class MinHeap<Item> {
  readonly #items: Item[] = [];
  readonly #isBefore: (a: Item, b: Item) => boolean;

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    let at = this.#items.length;
    this.#items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  pop(): Item | undefined {
    const top = this.#items[0];
    const last = this.#items.pop();
    if (this.#items.length > 0 && last !== undefined) {
      this.#items[0] = last;
      this.#sinkFrom(0);
    }
    return top;
  }

  #sinkFrom(start: number): void {
    let at = start;
    for (;;) {
      const smallerChild = this.#smallerOf(2 * at + 1, 2 * at + 2);
      if (!this.#swapIfBefore(smallerChild, at)) return;
      at = smallerChild;
    }
  }

  #smallerOf(left: number, right: number): number {
    const [a, b] = [this.#items[left], this.#items[right]];
    return a !== undefined && b !== undefined && this.#isBefore(b, a) ? right : left;
  }

  /** Swaps when the item at `lower` belongs above the one at `upper`; false when there is nothing to do. */
  #swapIfBefore(lower: number, upper: number): boolean {
    const [low, up] = [this.#items[lower], this.#items[upper]];
    if (low === undefined || up === undefined || !this.#isBefore(low, up)) return false;
    this.#items[lower] = up;
    this.#items[upper] = low;
    return true;
  }
}
