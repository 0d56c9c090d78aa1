import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '#libs/testing';
import { end, must, run, startBeside, startHeard } from './child-processes.js';
import { script, type Engine } from './engine.js';
import { type DebianArchives, ENGINE_PACKAGES } from './debian-archives.js';
import { makeStandIns } from './stand-ins.js';

const STARTS_WITHIN_MS = 60_000;
const CGROUPS = '/sys/fs/cgroup';
const here = new URL('../../../test/containers/', import.meta.url).pathname;

interface OwnEngineOptions {
  /** A folder for this run only. */
  readonly scratch: string;
  readonly archives: DebianArchives;
  /** The copy of the checkout, below the root file system. */
  readonly copyCheckout: (to: string) => Promise<void>;
  readonly npm: string;
}

/** An engine for a machine that has none: Debian's own, in its own namespaces, with the machine's network untouched. */
export class OwnEngine implements Engine {
  description = '';
  readonly folder = '/project';
  readonly leftOut = ['grafana'];
  readonly #options: OwnEngineOptions;
  readonly #root: string;
  readonly #cgroup = `session-broker-proof-${process.pid}`;
  #namespaces: ChildProcess | undefined;
  #network: ChildProcess | undefined;
  #pid = 0;

  private constructor(options: OwnEngineOptions) {
    this.#options = options;
    this.#root = join(options.scratch, 'root');
  }

  /** @param onMade gets the engine before anything is started, so that it can be closed at any time */
  static async start(options: OwnEngineOptions, onMade: (engine: Engine) => void): Promise<Engine> {
    const engine = new OwnEngine(options);
    onMade(engine);
    await engine.#unpack();
    await engine.#enter();
    await engine.#startDaemon();
    return engine;
  }

  get inside(): readonly string[] {
    const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    return [...this.#entering('-m', '-n', '-p', '-i', '-u'), 'env', '-i', path, 'HOME=/root'];
  }

  get beside(): readonly string[] {
    return this.#entering('-n');
  }

  prepareImages(): Promise<void> {
    return makeStandIns(this, { root: this.#root, ...this.#options });
  }

  async close(): Promise<void> {
    // When process 1 ends, so does every process of its namespace.
    if (this.#namespaces !== undefined) await end(this.#namespaces, 'SIGKILL');
    if (this.#pid > 0) await eventually(() => !existsSync(`/proc/${this.#pid}`), STARTS_WITHIN_MS);
    if (this.#network !== undefined) await end(this.#network, 'SIGKILL');
    await eventually(() => this.#removeControlGroups(), STARTS_WITHIN_MS);
    // Some hundred thousand files: the program made for this is many times as fast.
    await must(['rm', '-rf', this.#root]);
  }

  #entering(...kinds: readonly string[]): readonly string[] {
    return ['nsenter', '-t', String(this.#pid), ...kinds, '--'];
  }

  async #unpack(): Promise<void> {
    mkdirSync(this.#root);
    await must(['tar', '-C', this.#root, '-xf', await this.#options.archives.archive('engine', ENGINE_PACKAGES)]);
    await copyFile('/etc/ssl/certs/ca-certificates.crt', join(this.#root, 'etc/ssl/certs/ca-certificates.crt'));
    await writeFile(join(this.#root, 'etc/resolv.conf'), 'nameserver 10.0.2.3\n');
    await this.#options.copyCheckout(join(this.#root, this.folder));
  }

  async #enter(): Promise<void> {
    const unshare = ['unshare', '-m', '-n', '-p', '-i', '-u', '-f', '--propagation', 'private', '--kill-child=SIGKILL'];
    this.#namespaces = startHeard([...unshare, 'sh', join(here, 'process-one.sh'), this.#root]);
    const parent = this.#namespaces.pid ?? 0;
    const [said] = (await once(this.#namespaces.stdout ?? this.#namespaces, 'data')) as [unknown];
    if (String(said).trim() !== 'ready') throw new Error(`the namespaces were not made: ${String(said)}`);
    this.#pid = Number(readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim());
    const slirp = ['slirp4netns', '--configure', '--mtu=1400', '--disable-host-loopback', String(this.#pid), 'tap0'];
    this.#network = startBeside(slirp, join(this.#options.scratch, 'network.log'));
    await eventually(async () => (await run([...this.beside, 'ip', 'route'])).said.includes('tap0'), STARTS_WITHIN_MS);
  }

  async #startDaemon(): Promise<void> {
    const daemon = ['dockerd', '--storage-driver=overlay2', `--cgroup-parent=/${this.#cgroup}`];
    startBeside([...this.inside, ...daemon], join(this.#options.scratch, 'dockerd.log'));
    await eventually(async () => (await run([...this.inside, 'docker', 'info'])).code === 0, STARTS_WITHIN_MS);
    const versions = await script(
      this,
      "docker version --format '{{.Server.Version}}'; docker compose version --short; docker buildx version | cut -d' ' -f2",
    );
    const [server, compose, buildx] = versions.trim().split('\n');
    this.description = `Docker ${server}, compose ${compose}, buildx ${buildx} of Debian trixie, started for this run`;
  }

  /** Whether none is left: the kernel releases one some time after its last process. */
  #removeControlGroups(): boolean {
    const trees = existsSync(CGROUPS) ? [CGROUPS, ...readdirSync(CGROUPS).map((name) => join(CGROUPS, name))] : [];
    return trees.map((tree) => removed(join(tree, this.#cgroup))).every(Boolean);
  }
}

function removed(folder: string): boolean {
  if (!existsSync(folder)) return true;
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of below) removed(join(folder, name));
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    return false;
  }
}
