import type { Writable } from 'node:stream';
import type { Meter } from '@opentelemetry/api';
import { type Clock, Deadline, SystemClock, toRfc3339 } from '#libs/clock';

/** How much is kept for a stalled reader: thousands of lines. */
const MAX_UNREAD_BYTES = 4_194_304;

/** How long a reader that has fallen behind gets for the last lines of a program. */
const LAST_LINES_MS = 1_000;

/**
 * Lines for whoever reads this program's standard output. A reader that keeps up gets each line at once, so that a
 * crash loses none. A stalled reader holds up nothing: a blocking write to a full pipe would stop the whole program,
 * including reads and health. Unread lines are kept up to a bound; lines beyond that are lost and counted.
 */
export class StandardOutput {
  readonly #stream: Writable;
  #lostLines = 0;
  #reported = 0;

  /** @param onLost called with the number of lost lines once the reader reads again */
  constructor(stream: Writable, onLost: (count: number) => void) {
    this.#stream = stream;
    // The reader is gone: there is nobody to tell, and the program continues to serve.
    stream.on('error', () => (this.#lostLines += 1));
    stream.on('drain', () => {
      const lost = this.#lostLines - this.#reported;
      this.#reported = this.#lostLines;
      if (lost > 0) onLost(lost);
    });
  }

  /** Since the start, whether they have been reported or not: a reader that is gone for good is never told. */
  get lostLines(): number {
    return this.#lostLines;
  }

  write(line: string): void {
    if (this.#stream.writableLength > MAX_UNREAD_BYTES) this.#lostLines += 1;
    else this.#stream.write(line);
  }

  /** Resolves once everything has been read, or the time is up. */
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

/** The instance of this process, shared by log and audit. */
export function standardOutput(): StandardOutput {
  own ??= new StandardOutput(process.stdout, tellLoss);
  return own;
}

/** To be awaited at the end of a program. Resolves once all its lines have been read, or a second later. */
export const lastLinesRead = (): Promise<void> => standardOutput().written(new SystemClock(), LAST_LINES_MS);

function tellLoss(lost: number): void {
  const time = toRfc3339(new SystemClock().now());
  const msg = 'lines of the log, and of the audit where it goes here, were lost: standard output was not read';
  standardOutput().write(`${JSON.stringify({ level: 'error', time, lost, msg })}\n`);
}

/** @param prefix of the program's metric names. To be called once */
export function observeLostLines(meter: Meter, prefix: string): void {
  meter
    .createObservableCounter(`${prefix}lost_log_lines`, {
      description: 'Lines of the log, and of an audit on standard output, that were lost because nobody read them',
    })
    .addCallback((result) => result.observe(standardOutput().lostLines));
}
