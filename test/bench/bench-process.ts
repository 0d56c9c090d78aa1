import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const TICKS_PER_SECOND = 100;
/** A busy machine may be slow to start a program; that is not what is measured here. */
const MAX_START_MS = 60_000;
/** The servers of one bench share one processor, in turns; what asks them, or they ask, has the other. */
export const SERVER_CPU = 0;
export const OTHER_CPU = 1;

export interface BenchProcessOptions {
  /** A processor by number; any if left out. */
  readonly cpu?: number | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** A limit that the kernel holds, as it does for a container: above it, it kills the program. Needs root. */
  readonly memoryMib?: number | undefined;
}

/** A program, pinned to a processor if one is chosen and the system allows it. */
export class BenchProcess {
  readonly #child: ChildProcess;
  readonly #group: string | undefined;

  constructor(command: readonly string[], options: BenchProcessOptions = {}) {
    const canPin = options.cpu !== undefined && existsSync('/usr/bin/taskset');
    const pinned = canPin ? ['taskset', '-c', String(options.cpu), ...command] : [...command];
    this.#group = options.memoryMib === undefined ? undefined : controlGroupOf(options.memoryMib);
    const enter = ['sh', '-c', 'echo $$ > "$0" && exec "$@"', join(this.#group ?? '', 'cgroup.procs')];
    const [program = '', ...args] = this.#group === undefined ? pinned : [...enter, ...pinned];
    const env = { ...process.env, ...options.env };
    this.#child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  /** One of the programs beside this file. */
  static of(name: string, args: readonly string[], options: BenchProcessOptions = {}): BenchProcess {
    return new BenchProcess([process.execPath, join(import.meta.dirname, `${name}.js`), ...args], options);
  }

  /**
   * Processor time used so far, in seconds; taskset replaces itself with the program, so the process ID is the program's.
   */
  cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  /** Resident memory of the process. */
  residentMib(): number {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1_024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    if (this.#group !== undefined) rmdirSync(this.#group);
  }
}

let groups = 0;

/** @returns the folder of a new control group, of version 1 or 2 */
function controlGroupOf(memoryMib: number): string {
  const isFirst = existsSync('/sys/fs/cgroup/memory');
  const folder = join('/sys/fs/cgroup', isFirst ? 'memory' : '', `bench-${process.pid}-${(groups += 1)}`);
  mkdirSync(folder);
  writeFileSync(join(folder, isFirst ? 'memory.limit_in_bytes' : 'memory.max'), `${memoryMib}M`);
  return folder;
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
