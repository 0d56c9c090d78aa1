import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** What a command printed, both streams as they came, and its exit code. */
export interface Ended {
  readonly code: number;
  readonly said: string;
}

const MAX_SAID = 4_000_000;
const TOLD = 3_000;
const running = new Set<ChildProcess>();

/** In its own session, so that Ctrl-C reaches only this program, which ends the others in order. */
function spawned([program = '', ...args]: readonly string[], stdio: 'pipe' | number, cwd?: string): ChildProcess {
  const options = { detached: true, ...(cwd === undefined ? {} : { cwd }) };
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
    ...options,
    stdio: ['ignore', stdio, stdio],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Runs a command to its end, however that turns out. */
export function run(command: readonly string[], cwd?: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawned(command, 'pipe', cwd);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-MAX_SAID)));
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code: code ?? 128, said: signal === null ? said : said + signal }));
  });
}

/**
 * Runs a command that has to succeed.
 * @throws Error with the end of its output
 */
export async function must(command: readonly string[], cwd?: string): Promise<string> {
  const { code, said } = await run(command, cwd);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${said.slice(-TOLD)}`);
  return said;
}

/** Starts a program that runs alongside, with its output in a file. */
export function startBeside(command: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  const child = spawned(command, log);
  closeSync(log);
  return child;
}

/** Starts a program whose output is read. */
export function startHeard(command: readonly string[]): ChildProcess {
  return spawned(command, 'pipe');
}

/** Sends the signal, and resolves when the process has ended. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

/** Ends, by process ID, everything that this program started and that is still running. */
export async function endAll(): Promise<void> {
  await Promise.all([...running].map((child) => end(child, 'SIGKILL')));
}
