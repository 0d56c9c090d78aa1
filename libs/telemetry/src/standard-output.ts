import type { Writable } from 'node:stream';
import { type Clock, Deadline, SystemClock, toRfc3339 } from '#libs/clock';

/** What is kept for a reader that has stalled: thousands of lines. */
const MAX_UNREAD_BYTES = 4_194_304;

/**
 * Lines for whoever reads this program's standard output. One that reads has each line at once, so that a crash loses none. One that has
 * stalled holds up nothing: a write to a full pipe that waited would stop the whole program, reads and health included. What it leaves unread
 * is kept up to a bound, and lines beyond that are lost, and counted.
 */
export class StandardOutput {
  readonly #stream: Writable;
  #lost = 0;

  /** @param onLost told how many lines were lost, once the reader reads again */
  constructor(stream: Writable, onLost: (count: number) => void) {
    this.#stream = stream;
    // A reader that has gone: nobody is there to be told, and the program serves all the same.
    stream.on('error', () => (this.#lost += 1));
    stream.on('drain', () => {
      const lost = this.#lost;
      this.#lost = 0;
      if (lost > 0) onLost(lost);
    });
  }

  write(line: string): void {
    if (this.#stream.writableLength > MAX_UNREAD_BYTES) this.#lost += 1;
    else this.#stream.write(line);
  }

  /** Resolves when all has been read, or the time is up. */
  async written(clock: Clock, limitMs: number): Promise<void> {
    if (this.#stream.writableLength === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const deadline = new Deadline(clock, limitMs);
    deadline.signal.addEventListener('abort', () => resolve(), { once: true });
    this.#stream.once('drain', resolve);
    await promise;
    this.#stream.off('drain', resolve);
    deadline.close();
  }
}

let own: StandardOutput | undefined;

/** The one of this process, which log and audit share. */
export function standardOutput(): StandardOutput {
  own ??= new StandardOutput(process.stdout, tellLoss);
  return own;
}

function tellLoss(lost: number): void {
  const time = toRfc3339(new SystemClock().now());
  const msg = 'lines of the log, and of the audit where it goes here, were lost: standard output was not read';
  standardOutput().write(`${JSON.stringify({ level: 'error', time, lost, msg })}\n`);
}
