import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const TICKS_PER_SECOND = 100;
/** A busy machine may be slow to start a program; that is not what is measured here. */
const MAX_START_MS = 60_000;

/** A program, pinned to a processor if one is chosen and the system allows it. */
export class BenchProcess {
  readonly #child: ChildProcess;

  constructor(command: readonly string[], options: { cpu?: number; env?: Readonly<Record<string, string>> }) {
    const canPin = options.cpu !== undefined && existsSync('/usr/bin/taskset');
    const pinned = canPin ? ['taskset', '-c', String(options.cpu), ...command] : [...command];
    const [program = '', ...args] = pinned;
    const env = { ...process.env, ...options.env };
    this.#child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  /** Processor time used so far, in seconds. */
  cpuSeconds(): number {
    const { userS, systemS } = this.processorTime();
    return userS + systemS;
  }

  /**
   * Processor time so far, in seconds; taskset replaces itself with the program, so the process ID is the program's.
   */
  processorTime(): { readonly userS: number; readonly systemS: number } {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return { userS: Number(fields[11]) / TICKS_PER_SECOND, systemS: Number(fields[12]) / TICKS_PER_SECOND };
  }

  /** Resident memory of the process. */
  residentBytes(): number {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1_024;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}

/** Repeats the request until the answer is 200. @throws Error after a minute */
export async function untilOk(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const endsAt = performance.now() + MAX_START_MS;
  for (;;) {
    try {
      const response = await fetch(url, { headers });
      if (response.ok) return response;
    } catch (error) {
      if (performance.now() > endsAt) throw error;
    }
    if (performance.now() > endsAt) throw new Error(`${url} was not ready within a minute`);
    await pause(5);
  }
}
