import { type Clock, instantFromEpochMs, type Instant, type ScheduledTask } from '#libs/clock';

interface PendingTask {
  readonly dueAtMs: number;
  readonly order: number;
  readonly task: () => void;
}

/** Virtual time: days pass in milliseconds, and a timer fires exactly at its moment. */
export class FakeClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;
  #order = 0;
  readonly #pending = new Set<PendingTask>();

  constructor(startsAt = '2026-01-01T00:00:00.000Z') {
    this.#wallMs = Date.parse(startsAt);
  }

  now(): Instant {
    return instantFromEpochMs(this.#wallMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  schedule(delayMs: number, task: () => void): ScheduledTask {
    const pending = { dueAtMs: this.#monotonicMs + Math.max(0, delayMs), order: this.#order++, task };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  /** Timers that wait: a component that was closed leaves none. */
  get pendingTasks(): number {
    return this.#pending.size;
  }

  /** Lets time pass: runs every task at its own moment, and lets the work that it starts settle before the next. */
  async advance(durationMs: number): Promise<void> {
    const endsAtMs = this.#monotonicMs + durationMs;
    await this.settle();
    for (let next = this.#nextUntil(endsAtMs); next !== undefined; next = this.#nextUntil(endsAtMs)) {
      this.#moveTo(Math.max(next.dueAtMs, this.#monotonicMs));
      this.#pending.delete(next);
      next.task();
      await this.settle();
    }
    this.#moveTo(endsAtMs);
  }

  /** The process is frozen (SIGSTOP, a long pause): time passes on both clocks and no task runs until `advance`. */
  freeze(durationMs: number): void {
    this.#moveTo(this.#monotonicMs + durationMs);
  }

  /** Somebody sets the wall clock: it jumps, monotonic time does not. */
  jumpWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** Waits until every promise that can settle without time passing has settled. */
  async settle(): Promise<void> {
    for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #nextUntil(endsAtMs: number): PendingTask | undefined {
    let next: PendingTask | undefined;
    for (const candidate of this.#pending) {
      if (candidate.dueAtMs > endsAtMs) continue;
      const earlier = next === undefined || candidate.dueAtMs < next.dueAtMs;
      const sameButFirst = next?.dueAtMs === candidate.dueAtMs && candidate.order < next.order;
      if (earlier || sameButFirst) next = candidate;
    }
    return next;
  }
}
