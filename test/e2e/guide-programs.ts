import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startedWhole, toolPath } from '#libs/testing';
import { ClientProject } from './client-project.js';
import { RunningBroker, TOKENS } from './running-broker.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

const GUIDES = ['hosted-page', 'refund', 'notifications', 'merchant-sdk'] as const;
export type Guide = (typeof GUIDES)[number];
export type Language = 'ts' | 'python' | 'sh';

type Environment = Readonly<Record<string, string>>;

/** A program that runs until it is ended, and what it has printed so far. */
export interface RunningProgram {
  readonly lines: readonly string[];
  /** Where it listens, by its first line. */
  readonly url: string;
  readonly end: () => Promise<void>;
}

/** Looked up only where it is used: a suite says which tools it needs. */
const programOf = (language: Language): string =>
  language === 'python' ? toolPath('python3') : language === 'ts' ? process.execPath : 'sh';

const ENDINGS: Readonly<Record<Language, string>> = { ts: 'ts', python: 'py', sh: 'sh' };

/** The file of a guide's program, as the guide links it. */
const fileOf = (guide: Guide, language: Language): string =>
  guide === 'merchant-sdk' ? 'sdk-refund.ts' : `${guide}.${ENDINGS[language]}`;

/** The guides' programs as their reader has them: copied into a project with the client package. */
export class GuidePrograms {
  private constructor(readonly project: ClientProject) {}

  static async copied(): Promise<GuidePrograms> {
    const programs = new GuidePrograms(await ClientProject.installed(['@types', 'jose', 'undici-types']));
    return startedWhole(programs, { start: () => programs.#copy(), end: () => programs.remove() });
  }

  /** The compiler's complaints about those in TypeScript, under the strictest settings. */
  async compilerFaults(): Promise<string> {
    return this.project.compilerFaults(GUIDES.map((guide) => fileOf(guide, 'ts')));
  }

  /** Runs a program to its end. @returns what it printed */
  async output(guide: Guide, language: Language, env: Environment): Promise<string> {
    const options = { env: this.#environment(env), timeout: 60_000 };
    return (await run(programOf(language), [this.#pathOf(guide, language)], options)).stdout;
  }

  /** Starts a program, and returns with the first line that it prints. */
  async start(guide: Guide, language: Language, env: Environment): Promise<RunningProgram> {
    const child = spawn(programOf(language), [this.#pathOf(guide, language)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: this.#environment(env),
    });
    const lines: string[] = [];
    const reader = createInterface(child.stdout).on('line', (line) => void lines.push(line));
    await Promise.race([once(reader, 'line'), once(child, 'exit')]);
    const end = async (): Promise<void> => {
      const ended = once(child, 'exit');
      if (child.kill()) await ended;
    };
    return { lines, url: `http://127.0.0.1:${lines[0]?.replace('port ', '')}`, end };
  }

  remove(): Promise<void> {
    return this.project.remove();
  }

  /** They load the same packages again and again: those are compiled once. */
  #environment(env: Environment): NodeJS.ProcessEnv {
    return { ...process.env, NODE_COMPILE_CACHE: join(this.project.folder, 'compiled'), ...env };
  }

  #pathOf(guide: Guide, language: Language): string {
    return join(this.project.folder, fileOf(guide, language));
  }

  async #copy(): Promise<void> {
    for (const folder of ['docs/examples/guides', 'docs/examples/merchant-sdk'])
      for (const file of await readdir(join(root, folder)))
        if (/\.(?:ts|cjs|py|sh)$/.test(file))
          await this.project.write(file, await readFile(join(root, folder, file), 'utf8'));
  }
}

/** A broker with a session that ends only when it is told to, and the guides' way to a payment through it. */
export class GuideStage {
  readonly env: Environment;

  private constructor(
    readonly broker: RunningBroker,
    private readonly programs: GuidePrograms,
  ) {
    const places = { BROKER_URL: broker.url, GATEWAY_URL: broker.sandboxUrl };
    this.env = { ...places, BROKER_TOKEN: TOKENS.payments, MERCHANT_ID: 'terminal-1' };
  }

  static async start(programs: GuidePrograms): Promise<GuideStage> {
    const merchant = { supersedes: true, lifetimeMs: 3_600_000 };
    const broker = await RunningBroker.start({ merchant, timeout: '60s' });
    await broker.get('/v1/merchants/shop/session', { prefer: 'wait=60' });
    return new GuideStage(broker, programs);
  }

  /** What the hosted page's program orders. @returns the id that the bank has given it */
  async newOrder(more: Environment = {}): Promise<string> {
    const printed = await this.programs.output('hosted-page', 'ts', { ...this.env, ...more });
    expect(printed).toMatch(/^send the customer to http\S+\norder \S+ is CREATED with 0 operations\n$/);
    return /order (\S+) is/.exec(printed)?.[1] ?? '';
  }

  /** An order that the customer has paid. */
  async paid(more: Environment = {}): Promise<Readonly<Record<'operationId' | 'ecomOperationId', string>>> {
    const path = `/orders/${await this.newOrder(more)}/pay`;
    return (await this.broker.control('POST', path, {})) as Record<'operationId' | 'ecomOperationId', string>;
  }

  endSession(): Promise<unknown> {
    return this.broker.control('DELETE', '/sessions?merchant=shop&msgCode=b_session_doesnt_exist');
  }
}
