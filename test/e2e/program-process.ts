import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export interface ProgramOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Of which version it is: the folder with its built programs, this checkout's by default. */
  readonly built?: URL;
}

/** Of this checkout, be this file as it was written or built into the same folder. */
const BUILT = new URL(import.meta.url.endsWith('.ts') ? '../../dist/' : '../../', import.meta.url);

/** One of the built programs as a separate process. */
export class ProgramProcess {
  out = '';
  err = '';
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #exited: Promise<number | null>;
  readonly #ended: Promise<number | null>;
  readonly #wakes = new Set<() => void>();

  constructor(
    app: 'broker' | 'cli' | 'egress' | 'sandbox',
    { args = [], environment = {}, built = BUILT }: ProgramOptions = {},
  ) {
    const main = fileURLToPath(new URL(`programs/${app}.js`, built));
    this.#child = spawn(process.execPath, [main, ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
      this.#wake();
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    this.#exited = once(this.#child, 'exit').then(([code]) => code as number | null);
    this.#ended = once(this.#child, 'close').then(([code]) => {
      this.#wake();
      return code as number | null;
    });
  }

  /** From here on, its output stays in the pipe. */
  stall(): void {
    this.#child.stdout.pause();
  }

  /** The exit code, even if the output has not been read to the end. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  /** The exit code; null if a signal ended it. */
  get ended(): Promise<number | null> {
    return this.#ended;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the process did not start');
    return this.#child.pid;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Closes the other end of the pipe, as `| head -1` does. */
  stopReading(): void {
    this.#child.stdout.destroy();
  }

  /** Resolves with the match once it is on standard output; rejects if the process ends without it. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.out);
      if (match !== null) return match;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new Error(`ended without ${pattern}: ${this.out}${this.err}`);
      }
      await new Promise<void>((resolve) => this.#wakes.add(resolve));
    }
  }

  /** Process IDs of its children (Linux). */
  children(): number[] {
    const { pid } = this.#child;
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  }

  /** Processor time so far, in ticks of a hundredth of a second (Linux). @throws Error if the process has ended */
  usedTicks(): number {
    const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
    this.#wakes.clear();
  }
}
