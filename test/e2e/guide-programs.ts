import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { toolPath } from '#libs/testing';
import { strictCompilerFaults } from './strict-compiler.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

export const GUIDES = ['hosted-page', 'refund', 'notifications'] as const;
export type Guide = (typeof GUIDES)[number];
export type Language = 'ts' | 'python' | 'sh';

type Environment = Readonly<Record<string, string>>;

/** A program that goes on until it is ended, and what it has said. */
export interface RunningProgram {
  readonly lines: readonly string[];
  readonly end: () => Promise<void>;
}

/** Built for these programs alone: others build it at the same time. */
const BUILT = join(root, 'dist', `client-guides-${process.pid}`);

const programOf = (language: Language): string =>
  ({ ts: process.execPath, python: toolPath('python3'), sh: 'sh' })[language];

/** The programs of the guides as their reader has them: copied into a project that has the client package. */
export class GuidePrograms {
  private constructor(private readonly folder: string) {}

  static async copied(): Promise<GuidePrograms> {
    await run(process.execPath, [join(root, 'tools/build-client.mjs'), basename(BUILT)]);
    const folder = await mkdtemp(join(tmpdir(), 'guides-'));
    await mkdir(join(folder, 'node_modules/@session-broker'), { recursive: true });
    await symlink(BUILT, join(folder, 'node_modules/@session-broker/client'));
    for (const name of ['@types', 'undici-types']) {
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    for (const guide of GUIDES) {
      const text = await readFile(join(root, `docs/guides/${guide}.md`), 'utf8');
      for (const [, language = '', code = ''] of text.matchAll(/```(ts|python|sh)\n([^]*?)```/g)) {
        await writeFile(join(folder, `${guide}.${language}`), code);
      }
    }
    return new GuidePrograms(folder);
  }

  /** What the compiler has against those in TypeScript, under the strictest settings. */
  async compilerFaults(): Promise<string> {
    return strictCompilerFaults(
      this.folder,
      GUIDES.map((guide) => `${guide}.ts`),
    );
  }

  /** Runs a program to its end. @returns what it printed */
  async output(guide: Guide, language: Language, env: Environment): Promise<string> {
    const options = { env: { ...process.env, ...env }, timeout: 60_000 };
    return (await run(programOf(language), [join(this.folder, `${guide}.${language}`)], options)).stdout;
  }

  /** Starts a program, and comes back with the first line that it prints. */
  async start(guide: Guide, language: Language, env: Environment): Promise<RunningProgram> {
    const child = spawn(programOf(language), [join(this.folder, `${guide}.${language}`)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    });
    const lines: string[] = [];
    const reader = createInterface(child.stdout).on('line', (line) => void lines.push(line));
    await Promise.race([once(reader, 'line'), once(child, 'exit')]);
    const end = async (): Promise<void> => {
      const ended = once(child, 'exit');
      if (child.kill()) await ended;
    };
    return { lines, end };
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
    await rm(BUILT, { recursive: true });
  }
}
