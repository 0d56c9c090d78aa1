import { type Instant, instantFromEpochMs } from './instant.js';

export interface ScheduledTask {
  /** Idempotent; does nothing once the task has run. */
  cancel(): void;
}

/** The only source of time. Wall time is for expiry, monotonic time for durations; both are injected everywhere. */
export interface Clock {
  /** Wall time. It may jump. */
  now(): Instant;
  /** Milliseconds since a fixed moment; never goes back, and keeps counting while the process is stopped. */
  monotonicMs(): number;
  /** Runs `task` once after `delayMs`. The caller owns the task and cancels it when it closes. */
  schedule(delayMs: number, task: () => void): ScheduledTask;
}

/** The next turn of the event loop. No time passes: what the runtime finishes within a turn is then over. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** setTimeout takes a 32-bit delay and fires at once for a longer one. */
const MAX_TIMEOUT_MS = 2_147_483_647;

export class SystemClock implements Clock {
  now(): Instant {
    return instantFromEpochMs(Date.now());
  }

  monotonicMs(): number {
    return performance.now();
  }

  schedule(delayMs: number, task: () => void): ScheduledTask {
    return new SystemTask(this, this.monotonicMs() + delayMs, task).arm(delayMs);
  }
}

/** Every payment schedules one, so it makes no closures. */
class SystemTask implements ScheduledTask {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly dueAtMs: number,
    private readonly task: () => void,
  ) {}

  arm(leftMs: number): this {
    this.#timer = setTimeout(SystemTask.#fire, Math.min(MAX_TIMEOUT_MS, Math.max(0, Math.ceil(leftMs))), this);
    return this;
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  /** Node's timers may fire more than a millisecond early: wait for the rest. */
  static #fire(this: void, due: SystemTask): void {
    const leftMs = due.dueAtMs - due.clock.monotonicMs();
    if (leftMs > 0) due.arm(leftMs);
    else due.task();
  }
}
