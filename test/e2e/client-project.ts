import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startedWhole } from '#libs/testing';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

const FAKE = `
import { SessionBroker } from '@session-broker/client';
import { FakeBroker } from '@session-broker/client/testing';
const fake = await FakeBroker.start();
const broker = new SessionBroker(fake.options);
const foreign = await broker.encryptFor(fake.session.serverPublic, 'x');
const sealed = { openable: await fake.sealedAnswer('x'), foreign };
console.log(JSON.stringify({ url: fake.url, token: fake.token, sealed }));
process.stdin.resume().once('end', () => fake.close());
`;

/** The package's fake broker, and what is sealed to its merchant's key and to that of its session. */
interface PlayedBroker {
  readonly url: string;
  readonly token: string;
  readonly sealed: Readonly<Record<'openable' | 'foreign', string>>;
  readonly end: () => Promise<void>;
}

export interface ProgramEnd {
  readonly out: string;
}

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

  /** Runs a program in it, as a module unless its name says otherwise. */
  async run(
    source: string,
    { name = 'program.mjs', env = {} }: { name?: string; env?: object } = {},
  ): Promise<ProgramEnd> {
    const child = spawn(process.execPath, [await this.write(name, source)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await once(child, 'close');
    return { out };
  }

  /** The package's fake broker, in a separate process. */
  async startFake(): Promise<PlayedBroker> {
    const child = spawn(process.execPath, [await this.write('fake.mjs', FAKE)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const end = async (): Promise<void> => {
      const ended = once(child, 'close');
      child.stdin.end();
      await ended;
    };
    return { ...(JSON.parse(line) as Omit<PlayedBroker, 'end'>), end };
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
