import { describeError } from '#libs/errors';
import type { ProgramSignals } from './program-signals.js';

/** A program that serves until it is asked to end. */
export interface RunningProgram {
  /** Reads its configuration again. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

interface ProgramLife {
  /** For the line that says why it could not start or end. */
  readonly name: string;
  readonly signals: ProgramSignals;
  /** @returns undefined if it is to end before anything of it runs */
  readonly start: () => Promise<RunningProgram | undefined>;
}

const ENDED = 0;
const FAILED = 1;

/**
 * The life of a program, from its configuration to its last log line.
 * @returns its exit code: 0 if it ended in order, 1 if it could not start or end or nobody caught an error, with one
 * line on stderr
 */
export async function liveProgram({ name, signals, start }: ProgramLife): Promise<number> {
  try {
    const program = await start();
    if (program === undefined) return ENDED;
    signals.onHangUp(() => void program.reload());
    await aborted(signals.stopping);
    const code = await stop(name, program);
    return signals.hasFailed() ? FAILED : code;
  } catch (error) {
    return fail(`${name} cannot start`, error);
  }
}

async function stop(name: string, program: RunningProgram): Promise<number> {
  try {
    await program.close();
    return ENDED;
  } catch (error) {
    return fail(`${name} did not stop cleanly`, error);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function fail(what: string, error: unknown): number {
  process.stderr.write(`${what}: ${describeError(error)}\n`);
  return FAILED;
}
