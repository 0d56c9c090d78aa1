import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { toolPath } from './needed-tools.js';
import { startedWhole } from './started.js';

const run = promisify(execFile);

const READY_WITHIN_MS = 60_000;

interface RedisProcessOptions {
  /** More command-line options, e.g. `['--requirepass', 'x']`. They may use `dir`, a folder for this process only. */
  readonly args?: (facts: { readonly port: number; readonly dir: string }) => readonly string[];
  /** No plain port: `args` opens one for TLS. */
  readonly tlsOnly?: boolean;
  /** Runs as a sentinel with these lines of configuration. */
  readonly sentinel?: readonly string[];
}

/** One redis-server for a test, on its own loopback port, keeping nothing on disk. Stop it when done. */
export class RedisProcess {
  readonly port: number;
  readonly #dir = mkdtempSync(join(tmpdir(), 'redis-test-'));
  readonly #options: RedisProcessOptions;
  #child: ChildProcess | undefined;

  static async start(options: RedisProcessOptions = {}): Promise<RedisProcess> {
    const redis = new RedisProcess(await freePort(), options);
    return startedWhole(redis, { start: () => redis.start(), end: () => redis.stop() });
  }

  private constructor(port: number, options: RedisProcessOptions) {
    this.port = port;
    this.#options = options;
  }

  get address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.port };
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}/0`;
  }

  /** Starts it (again) on the same port; empty, since nothing was kept. */
  async start(): Promise<void> {
    const args = this.#options.sentinel === undefined ? this.#serverArgs() : this.#sentinelArgs(this.#options.sentinel);
    const child = spawn(toolPath('redis-server'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    await untilReady(child);
  }

  /** SIGKILL: connections break, data is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGSTOP: connections stay open and nothing answers, as with a half-open connection. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.#end('SIGKILL');
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Runs one command with redis-cli, on the plain port; returns its output. */
  cli(...command: readonly string[]): string {
    return execFileSync(toolPath('redis-server', 'redis-cli'), this.#cliArgs(command), { encoding: 'utf8' });
  }

  /** Like `cli`, but without holding up this thread, in which whatever is waited for may run. */
  async ask(...command: readonly string[]): Promise<string> {
    return (await run(toolPath('redis-server', 'redis-cli'), this.#cliArgs(command))).stdout;
  }

  /** Waits until a command prints a text. A server that changes its role drops its connections: it is asked again. */
  untilSays(text: string, ...command: readonly string[]): Promise<void> {
    return eventually(async () => {
      try {
        return (await this.ask(...command)).includes(text);
      } catch (error) {
        if ((error as { readonly code?: unknown }).code !== 1) throw error;
        return false;
      }
    });
  }

  #cliArgs(command: readonly string[]): string[] {
    return ['-h', '127.0.0.1', '-p', String(this.port), ...command];
  }

  #serverArgs(): string[] {
    const { args, tlsOnly = false } = this.#options;
    return [
      ...['--port', tlsOnly ? '0' : String(this.port), '--bind', '127.0.0.1', '--dir', this.#dir],
      ...['--save', '', '--appendonly', 'no', '--daemonize', 'no'],
      ...(args?.({ port: this.port, dir: this.#dir }) ?? []),
    ];
  }

  /** A sentinel keeps its state in its configuration file, so it needs a real one. */
  #sentinelArgs(lines: readonly string[]): string[] {
    const file = join(this.#dir, 'sentinel.conf');
    const own = [`port ${this.port}`, 'bind 127.0.0.1', `dir ${this.#dir}`];
    writeFileSync(file, [...own, ...lines, ''].join('\n'));
    return [file, '--sentinel'];
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (why: string): void => reject(new Error(`redis-server ${why}: ${output.slice(-500)}`));
    const timer = setTimeout(() => fail('was not ready in time'), READY_WITHIN_MS);
    const listen = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
      // A sentinel says nothing about connections; its monitor line is the last one at start.
      if (!/Ready to accept connections|\+monitor/.test(output)) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.on('data', listen);
    child.stderr?.on('data', listen);
    child.once('exit', () => {
      clearTimeout(timer);
      fail('ended');
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(`(7 or newer) has to be on the PATH: tools/test-tools.sh installs it (${error.message})`);
    });
  });
}
