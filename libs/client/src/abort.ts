import { CallAborted, SessionBrokerError } from './errors.js';
import type { Time, TimerOptions } from './time.js';

/**
 * Settles as `work` does, or rejects with the signal's error as soon as it aborts, even if the work ignores the signal.
 * What the work does after that is ignored.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(reasonOf(signal));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

export interface PauseOptions extends TimerOptions {
  readonly signal: AbortSignal;
}

/** Resolves after `delayMs`; rejects with the signal's error. */
export function pause(time: Time, delayMs: number, { signal, ...options }: PauseOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(reasonOf(signal));
    const timer = time.schedule(delayMs, () => end(resolve), options);
    const leave = (): void => end(() => reject(reasonOf(signal)));
    const end = (settle: () => void): void => {
      timer.cancel();
      signal.removeEventListener('abort', leave);
      settle();
    };
    signal.addEventListener('abort', leave, { once: true });
  });
}

/** Our own aborts, such as timeouts, carry their error as the reason; a caller's reason can be anything. */
export function reasonOf(signal: AbortSignal): SessionBrokerError {
  const reason: unknown = signal.reason;
  return reason instanceof SessionBrokerError ? reason : CallAborted.by(reason);
}
