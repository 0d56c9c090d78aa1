import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { toolPath } from '#libs/testing';

const run = promisify(execFile);
export const root = join(import.meta.dirname, '..', '..', '..');

export interface Release {
  readonly version: string;
  readonly commit: string;
}

interface Changelog {
  readonly lastRelease: (text: string) => Release | undefined;
}

/** The release that CHANGELOG.md names last, checked out in an empty folder and built there. */
export async function buildLastRelease(folder: string): Promise<Release> {
  const tools = pathToFileURL(join(root, 'tools/release/changelog.mjs')).href;
  const release = ((await import(tools)) as Changelog).lastRelease(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  if (release === undefined) throw new Error('CHANGELOG.md names no release with its commit: docs/releasing.md');
  const archive = join(folder, 'release.tar');
  await run(toolPath('git'), ['archive', '--output', archive, release.commit], { cwd: root });
  await run('tar', ['-xf', archive, '-C', folder]);
  if (packagesOf(folder) === packagesOf(root)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else await run('npm', ['ci'], { cwd: folder });
  await run(process.execPath, ['tools/build-if-stale.mjs'], { cwd: folder });
  return release;
}

/** What `npm ci` installs: the lock file without the version of the project itself. */
function packagesOf(folder: string): string {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as { packages: { '': object } };
  return JSON.stringify({ ...lock.packages, '': { ...lock.packages[''], version: undefined } });
}
