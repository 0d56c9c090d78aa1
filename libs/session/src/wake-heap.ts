import type { Clock, ScheduledTask } from '#libs/clock';

/** Moments that lie this close together come together. */
const TOGETHER_MS = 250;

interface Planned<Item> {
  readonly item: Item;
  readonly atMs: number;
}

/**
 * One timer for the moments of many: each has one at most, the last that was planned for it. What is no longer planned
 * stays in the heap until its time, and is then passed over.
 */
export class WakeHeap<Item> {
  readonly #clock: Clock;
  readonly #atMsOf: (item: Item) => number;
  readonly #wake: (items: readonly Item[]) => void;
  readonly #heap: Planned<Item>[] = [];
  #timer: { readonly atMs: number; readonly task: ScheduledTask } | undefined;
  #isClosed = false;

  /** @param atMsOf when the item is to be woken, by the monotonic clock: a moment that differs is no longer planned */
  constructor(clock: Clock, atMsOf: (item: Item) => number, wake: (items: readonly Item[]) => void) {
    this.#clock = clock;
    this.#atMsOf = atMsOf;
    this.#wake = wake;
  }

  plan(item: Item): void {
    const atMs = this.#atMsOf(item);
    if (this.#isClosed || atMs === Infinity) return;
    this.#push({ item, atMs });
    this.#arm();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.task.cancel();
    this.#heap.length = 0;
  }

  #arm(): void {
    const [first] = this.#heap;
    if (first === undefined || this.#isClosed) return;
    const atMs = Math.ceil(first.atMs / TOGETHER_MS) * TOGETHER_MS;
    if (this.#timer !== undefined && this.#timer.atMs <= atMs) return;
    this.#timer?.task.cancel();
    const delayMs = Math.max(0, atMs - this.#clock.monotonicMs());
    this.#timer = { atMs, task: this.#clock.schedule(delayMs, () => this.#ring(atMs)) };
  }

  #ring(armedAtMs: number): void {
    this.#timer = undefined;
    // The awaited moment has come, even if the clock's fractions make it fall short by a hair.
    const nowMs = Math.max(armedAtMs, this.#clock.monotonicMs());
    const due = new Set<Item>();
    for (let [first] = this.#heap; first !== undefined && first.atMs <= nowMs; [first] = this.#heap) {
      this.#pop();
      if (this.#atMsOf(first.item) === first.atMs) due.add(first.item);
    }
    if (due.size > 0) this.#wake([...due]);
    this.#arm();
  }

  #push(planned: Planned<Item>): void {
    const heap = this.#heap;
    let at = heap.push(planned) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || above.atMs <= planned.atMs) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = planned;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const isRight = right !== undefined && left !== undefined && right.atMs < left.atMs;
      const child = isRight ? right : left;
      if (child === undefined || last.atMs <= child.atMs) break;
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
  }
}
