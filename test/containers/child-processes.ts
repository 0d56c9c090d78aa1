import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** What a command said, both streams as they came, and how it ended. */
export interface Ended {
  readonly code: number;
  readonly said: string;
}

const MAX_SAID = 4_000_000;
const TOLD = 3_000;
const running = new Set<ChildProcess>();

/** In a session of its own, so that Ctrl-C reaches this program alone, which ends the others in order. */
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

/** Runs a command to its end, whatever that is. */
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
 * @throws Error with the end of what it said
 */
export async function must(command: readonly string[], cwd?: string): Promise<string> {
  const { code, said } = await run(command, cwd);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${said.slice(-TOLD)}`);
  return said;
}

/** Starts what goes on beside, with its words in a file. */
export function startBeside(command: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  const child = spawned(command, log);
  closeSync(log);
  return child;
}

/** Starts what is listened to. */
export function startHeard(command: readonly string[]): ChildProcess {
  return spawned(command, 'pipe');
}

/** Resolves when the process has ended, which it is told by the signal. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

/** Ends by its id whatever of this program is still running. */
export async function endAll(): Promise<void> {
  await Promise.all([...running].map((child) => end(child, 'SIGKILL')));
}
