import type { Clock, ScheduledTask } from './clock.js';
import { instantFromEpochMs, type Instant } from './instant.js';

interface PendingTask {
  readonly dueAtMs: number;
  readonly order: number;
  readonly task: () => void;
}

/** Time that passes only when it is told to: days in milliseconds, and each task exactly at its moment. */
export class VirtualClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;
  #order = 0;
  readonly #pending = new Set<PendingTask>();

  constructor(startsAt: Instant) {
    this.#wallMs = startsAt;
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

  /** Tasks that wait: a component that was closed leaves none. */
  get pendingTasks(): number {
    return this.#pending.size;
  }

  /** Lets time pass: runs every task at its own moment, and lets the work that it starts settle before the next. */
  async advance(durationMs: number): Promise<void> {
    const endsAtMs = this.#monotonicMs + durationMs;
    await this.settle();
    for (let next = this.#nextUntil(endsAtMs); next !== undefined; next = this.#nextUntil(endsAtMs)) {
      this.passUnseen(Math.max(0, next.dueAtMs - this.#monotonicMs));
      this.#pending.delete(next);
      next.task();
      await this.settle();
    }
    this.passUnseen(endsAtMs - this.#monotonicMs);
  }

  /**
   * Waits until every promise that can settle without time passing has settled. One turn of the event loop is enough: it
   * comes when no promise has anything left to do, however many follow from one another.
   */
  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Both clocks go on, and no task runs. */
  protected passUnseen(durationMs: number): void {
    this.#wallMs += durationMs;
    this.#monotonicMs += durationMs;
  }

  /** The wall clock alone is set. */
  protected setWall(byMs: number): void {
    this.#wallMs += byMs;
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
