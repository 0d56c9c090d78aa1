import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Clock } from '#libs/clock';
import { programRuntime } from '#libs/program';

/** After this time, a process that was asked to end is killed. */
const GRACE_MS = 10_000;

interface ServiceOptions {
  readonly name: string;
  /** The built program. */
  readonly script: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly onLine: (service: string, line: string) => void;
}

export interface ServiceEnd {
  readonly name: string;
  /** Its last words on standard error, or how it ended. */
  readonly reason: string;
}

/**
 * Ends a service together with the launcher, however that ended: the pipe closes with it, even on `kill -9`. Only in
 * the main thread, because a worker also runs this and has no such pipe.
 */
const END_WITH_LAUNCHER = `--import=data:text/javascript,${encodeURIComponent(
  'import { isMainThread } from "node:worker_threads";' +
    'if (isMainThread) process.stdin.on("close", () => process.kill(process.pid, "SIGTERM")).resume().unref();',
)}`;

/** One of our programs, running as its own process. */
export class ServiceProcess {
  readonly name: string;
  /** Settles when the process is gone, for whatever reason. Never rejects. */
  readonly ended: Promise<ServiceEnd>;
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  #lastWords: string | undefined;

  constructor({ name, script, environment, clock, onLine }: ServiceOptions) {
    this.name = name;
    this.#clock = clock;
    // In its own process group, so that Ctrl-C reaches only the launcher, which then ends the services in order.
    this.#child = spawn(process.execPath, [...programRuntime.nodeArguments, END_WITH_LAUNCHER, script], {
      env: { ...programRuntime.environment, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const { stdout, stderr } = this.#child;
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => onLine(name, line));
    if (stderr !== null) createInterface({ input: stderr }).on('line', (line) => (this.#lastWords = line));
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => resolve({ name, reason: this.#lastWords ?? how });
      this.#child.once('error', (error) => end(error.message));
      this.#child.once('close', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
  }

  /** Asks the process to end and waits until it is gone. Idempotent. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const force = this.#clock.schedule(GRACE_MS, () => void this.#child.kill('SIGKILL'));
    await this.ended;
    force.cancel();
  }
}
