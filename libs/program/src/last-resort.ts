import { inSource } from './source-place.js';

const MAX_FRAMES = 6;

/**
 * Handles errors that nobody caught, in callbacks and in promises alike. By default Node.js would print the error with
 * its message and all of its members, any of which may hold a secret, and leave callers in the middle of their answers.
 * @param end called for each such error: nobody knows what was left half done, so the program must end in order
 */
export function catchTheRest(end: () => void): void {
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(`nobody caught: ${placeOf(error)}\n`);
    // For an error while the program is still loading, when nothing waits yet to be told to end.
    process.exitCode = 1;
    end();
  });
}

/** The kind of an error and where it was thrown, in one line. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'a value that is not an Error was thrown';
  const lines = (error.stack ?? '')
    .replace(error.message, '')
    .split('\n')
    .map((line) => line.trim());
  const frames = lines.filter((line) => line.startsWith('at ')).slice(0, MAX_FRAMES);
  return [error.name, ...frames.map(inSource)].join(' ');
}
