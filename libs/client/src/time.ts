/** A scheduled task. */
export interface Timer {
  /** Idempotent; does nothing once the task has run. */
  cancel(): void;
}

/** How a timer behaves. */
export interface TimerOptions {
  /** Nothing depends on it: it must not keep the process alive. */
  readonly background?: boolean;
}

/** The only source of time in this package, which reads no wall clock; tests bring their own. */
export interface Time {
  /** Milliseconds since some fixed moment; never goes back, but may stand still while the machine sleeps. */
  monotonicMs(): number;
  /** Runs `task` once after `delayMs`. The caller owns the timer and cancels it. */
  schedule(delayMs: number, task: () => void, options?: TimerOptions): Timer;
}

/** setTimeout takes a 32-bit delay and fires at once beyond it. Nothing here waits for 24 days. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** For what people read: nothing is counted by it. */
export const wallMs = (): number => Date.now();

export const systemTime: Time = {
  monotonicMs: () => performance.now(),
  schedule(delayMs, task, { background = false } = {}) {
    const timer = setTimeout(task, Math.min(Math.max(0, delayMs), MAX_TIMEOUT_MS));
    if (background) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
