import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A volume as the kubelet writes it: the files are links through `..data`, which points to a folder with the current
 * version and is exchanged by a rename.
 */
export class MountedVolume {
  readonly path: string;
  #version = 0;

  constructor(path: string) {
    this.path = path;
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    const version = `..v${(this.#version += 1)}`;
    await mkdir(join(this.path, version), { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(this.path, version, name), content, { mode: 0o600 });
      if (this.#version === 1) await symlink(join('..data', name), join(this.path, name));
    }
    await symlink(version, join(this.path, '..data_tmp'));
    await rename(join(this.path, '..data_tmp'), join(this.path, '..data'));
    await rm(join(this.path, `..v${this.#version - 1}`), { recursive: true, force: true });
  }
}
