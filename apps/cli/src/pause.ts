import type { Clock } from '#libs/clock';

/** Resolves after `delayMs`, or as soon as the signal aborts. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const task = clock.schedule(delayMs, end);
    function end(): void {
      task.cancel();
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end, { once: true });
  });
}
