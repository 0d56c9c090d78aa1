import { exitCodes } from './exit-codes.js';
import { systemCodeOf } from './system-error.js';
import type { Terminal } from './terminal.js';

/** The reader of a pipe may leave early (`| head`): there is nobody left to talk to then, but nothing is wrong. */
const READER_HAS_LEFT = 'EPIPE';

/**
 * Called when standard output accepts nothing more, such as a file on a full disk: what was to be printed is lost.
 * @returns the exit code; undefined if it is left to the verb
 */
export function lostOutput(error: Error, { err }: Pick<Terminal, 'err'>): number | undefined {
  const code = systemCodeOf(error);
  if (code === READER_HAS_LEFT) return undefined;
  err(`error: standard output cannot be written (${code}): what is there is not all`);
  return exitCodes.failed;
}
