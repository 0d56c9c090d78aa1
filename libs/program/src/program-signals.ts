import { catchTheRest } from './last-resort.js';

/** What a program is told from outside. */
export interface ProgramSignals {
  /** Aborted once, when the program is to end; it may be before it has started. */
  readonly stopping: AbortSignal;
  /** Whether it is to end because of an error that nobody caught. */
  readonly hasFailed: () => boolean;
  /** Told once what to do when the configuration is to be read again; before that it is about to be read anyway. */
  readonly onHangUp: (reload: () => void) => void;
}

/** Asked to end for the second time: no longer in good order, but now. */
const ENDED_AT_ONCE = 1;

/**
 * Hears the signals of the process from now on: one that comes while nobody listens ends the process, or is lost where the
 * process is the first of its container. The first asks for an end in order, however far the start has come; the second
 * ends the process at once.
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
