import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { must } from './child-processes.js';

export const ENGINE_PACKAGES: readonly string[] = [
  ...['docker.io', 'docker-cli', 'docker-compose', 'docker-buildx', 'iptables', 'iproute2', 'ca-certificates'],
  ...['procps', 'curl'],
];
export const BASE_PACKAGES: readonly string[] = [
  ...['redis-server', 'nginx-light', 'prometheus', 'ca-certificates', 'libstdc++6'],
];

/** Debian trixie systems as archives, made from its packages if they are not there yet. */
export class DebianArchives {
  readonly #folder: string;
  readonly #making = new Map<string, Promise<string>>();

  /** @param folder where they are put, and stay if it stays */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves to the file. */
  archive(name: string, packages: readonly string[]): Promise<string> {
    const made = this.#making.get(name) ?? this.#make(name, packages);
    this.#making.set(name, made);
    return made;
  }

  async #make(name: string, packages: readonly string[]): Promise<string> {
    const file = join(this.#folder, `${name}.tar`);
    if (existsSync(file)) return file;
    const unfinished = join(this.#folder, `${name}.unfinished.tar`);
    const include = `--include=${packages.join(',')}`;
    await must(['mmdebstrap', '--variant=minbase', include, 'trixie', unfinished, await mirror()]);
    await rename(unfinished, file);
    return file;
  }
}

/** The mirror that this machine's own packages come from. */
async function mirror(): Promise<string> {
  const said = await must(['apt-get', 'indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']);
  return said.split('\n').find((uri) => /\/debian\/?$/.test(uri)) ?? 'http://deb.debian.org/debian';
}
