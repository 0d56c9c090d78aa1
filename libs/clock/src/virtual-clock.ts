import { type Clock, nextTurn, type ScheduledTask } from './clock.js';
import { instantFromEpochMs, type Instant } from './instant.js';

interface PendingTask {
  readonly dueAtMs: number;
  readonly order: number;
  readonly task: () => void;
}

/** Time that passes only when told to: days in milliseconds, with each task run exactly when it is due. */
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

  /** Tasks still waiting: a closed component leaves none. */
  get pendingTasks(): number {
    return this.#pending.size;
  }

  /** Lets time pass: runs every task when it is due, and lets the work it starts settle before the next one. */
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
   * Waits until every promise that can settle without time passing has settled. One turn of the event loop is enough:
   * it comes once no promise has anything left to do, however long a chain they form.
   */
  async settle(): Promise<void> {
    await nextTurn();
  }

  /** Moves both clocks on without running any task. */
  protected passUnseen(durationMs: number): void {
    this.#wallMs += durationMs;
    this.#monotonicMs += durationMs;
  }

  /** Moves the wall clock alone. */
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
