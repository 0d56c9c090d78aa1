import type { ScheduledTask } from '#libs/clock';

/** With more events than this at one moment, time would never go on. */
const MAX_AT_ONCE = 20_000;

interface PlannedEvent {
  readonly atMs: number;
  readonly order: number;
  readonly task: () => void;
  cancelled: boolean;
}

/**
 * Runs once every promise that can settle by itself has settled. A tick that is queued by a microtask comes after all
 * microtasks, including those that they queue: exact, and a hundred times cheaper than a turn of the event loop.
 */
function afterSettling(then: () => void): void {
  queueMicrotask(() => process.nextTick(then));
}

/** Something goes on without end and without letting time pass. */
export class EndlessMoment extends Error {
  constructor(atMs: number) {
    super(`more than ${MAX_AT_ONCE} events at ${atMs} ms`);
  }
}

/** The one true time of a simulation: each event at its moment, in an order that depends only on the program. */
export class VirtualWorld {
  readonly #heap: PlannedEvent[] = [];
  #nowMs = 0;
  #order = 0;
  #atOnce = 0;
  #stopped = false;

  /** True milliseconds since the simulation began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, task: () => void): ScheduledTask {
    const planned = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, task, cancelled: false };
    this.#push(planned);
    return { cancel: () => (planned.cancelled = true) };
  }

  /** Nothing more happens: `run` ends at the current moment. */
  stop(): void {
    this.#stopped = true;
  }

  /** Lets time pass. Rejects with what an event threw. */
  run(untilMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        if (this.#stopped || !this.#next(untilMs, reject)) resolve();
        else afterSettling(step);
      };
      afterSettling(step);
    });
  }

  #next(untilMs: number, failed: (error: unknown) => void): boolean {
    const next = this.#popUntil(untilMs);
    if (next === undefined) {
      this.#nowMs = Math.max(this.#nowMs, untilMs);
      return false;
    }
    this.#atOnce = next.atMs > this.#nowMs ? 0 : this.#atOnce + 1;
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    try {
      if (this.#atOnce > MAX_AT_ONCE) throw new EndlessMoment(this.#nowMs);
      next.task();
      return true;
    } catch (error) {
      failed(error);
      return false;
    }
  }

  #popUntil(untilMs: number): PlannedEvent | undefined {
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= untilMs; first = this.#heap[0]) {
      this.#pop();
      if (!first.cancelled) return first;
    }
    return undefined;
  }

  #push(planned: PlannedEvent): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(planned);
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(planned, heap[above]!)) break;
      heap[place] = heap[above]!;
      place = above;
    }
    heap[place] = planned;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below += 1;
      if (!isBefore(heap[below]!, last)) break;
      heap[place] = heap[below]!;
      place = below;
    }
    heap[place] = last;
  }
}

const isBefore = (left: PlannedEvent, right: PlannedEvent): boolean =>
  left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);
