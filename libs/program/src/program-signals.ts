import { catchTheRest } from './last-resort.js';

/** What a program is told from outside. */
export interface ProgramSignals {
  /** Aborted once, when the program is to end; possibly before it has started. */
  readonly stopping: AbortSignal;
  /** Whether it is to end because of an uncaught error. */
  readonly hasFailed: () => boolean;
  /**
   * Called once with what to do when the configuration is to be read again; before that, it is about to be read anyway.
   */
  readonly onHangUp: (reload: () => void) => void;
}

/** Exit code after the second request to end: immediately, no longer in good order. */
const ENDED_AT_ONCE = 1;

/**
 * Handles the signals of the process from now on: a signal without a listener ends the process, or is lost if the
 * process is the first in its container. The first signal asks for an orderly end, however far the start has come; the
 * second ends the process at once.
 */
export function hearSignals(): ProgramSignals {
  const stopping = new AbortController();
  let hangUp = (): void => undefined;
  let failed = false;
  const stop = (): void => {
    if (stopping.signal.aborted) process.exit(ENDED_AT_ONCE);
    stopping.abort();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => hangUp());
  catchTheRest(() => {
    failed = true;
    stopping.abort();
  });
  return { stopping: stopping.signal, hasFailed: () => failed, onHangUp: (reload) => (hangUp = reload) };
}
