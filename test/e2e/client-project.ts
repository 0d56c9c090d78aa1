import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startedWhole } from '#libs/testing';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];
/** For Nest's, which TypeScript still calls experimental. */
const DECORATORS = ['--experimentalDecorators', '--emitDecoratorMetadata'];
const TARGET = ['--noEmit', '--allowImportingTsExtensions', '--module', 'nodenext', '--target', 'es2022'];
const TYPES = ['--lib', 'es2022', '--types', 'node'];

/** A project of someone who has installed the packed client package, next to packages that are here. */
export class ClientProject {
  private constructor(readonly folder: string) {}

  static async installed(packages: readonly string[]): Promise<ClientProject> {
    const project = new ClientProject(await mkdtemp(join(tmpdir(), 'client-project-')));
    return startedWhole(project, { start: () => project.#install(packages), end: () => project.remove() });
  }

  /** Where the package is installed. */
  get installed(): string {
    return join(this.folder, 'node_modules/@session-broker/client');
  }

  /** The package as `npm publish` sends it. */
  get tarball(): Promise<Buffer> {
    return readFile(join(this.folder, 'client.tgz'));
  }

  async write(file: string, text: string): Promise<string> {
    const path = join(this.folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  }

  /** Runs a program in it, as a module unless its name says otherwise. @returns what it printed; rejects if it fails */
  async run(source: string, { name = 'program.mjs', env = {} }: { name?: string; env?: object } = {}): Promise<string> {
    const options = { env: { ...process.env, ...env }, timeout: 60_000 };
    return (await run(process.execPath, [await this.write(name, source)], options)).stdout;
  }

  /** The compiler's complaints about these of its files, under the strictest settings; empty if there are none. */
  async compilerFaults(files: readonly string[]): Promise<string> {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const args = [tsc, ...STRICT, ...DECORATORS, ...TARGET, ...TYPES, ...files];
    const compiling = run(process.execPath, args, { cwd: this.folder });
    return (await compiling.catch((error: { stdout: string }) => error)).stdout;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #install(packages: readonly string[]): Promise<void> {
    const { stdout } = await run(process.execPath, [join(root, 'tools/pack-client.mjs')]);
    const tarball = join(this.folder, 'client.tgz');
    await copyFile(stdout.trim(), tarball);
    await mkdir(this.installed, { recursive: true });
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', this.installed]);
    for (const name of packages) {
      const link = join(this.folder, 'node_modules', name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(join(root, 'node_modules', name), link);
    }
    await this.write('package.json', JSON.stringify({ type: 'module' }));
  }
}
