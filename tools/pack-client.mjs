// Packs the client package as `npm publish` sends it, and prints where it is: `node tools/pack-client.mjs`. It is kept in
// dist/ under the digest of everything it is made of, so that tests that install it need not each compile it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const store = join(root, 'dist', 'packed-client');

function digestOfSources() {
  const patterns = [
    'libs/client/**',
    'tools/build-client.mjs',
    'tsconfig.json',
    'LICENSE',
    'node_modules/typescript/package.json',
  ];
  const digest = createHash('sha256');
  for (const file of globSync(patterns, { cwd: root }).sort()) {
    const path = join(root, file);
    if (statSync(path).isFile()) digest.update(`${file}\0`).update(readFileSync(path)).update('\0');
  }
  return digest.digest('hex');
}

/** Ends the process if the step fails. @returns what it printed */
function step(program, args) {
  const { status, stdout } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 1);
  return stdout;
}

/** Others may pack the same at the same time: whoever is last replaces the same bytes. */
function pack(tarball) {
  // Source maps refer to their sources by relative path, so that it is built in a folder of dist/ itself.
  const built = mkdtempSync(join(root, 'dist', 'client-'));
  const packed = mkdtempSync(join(store, 'packing-'));
  try {
    step(process.execPath, [join(root, 'tools/build-client.mjs'), basename(built)]);
    const [{ filename }] = JSON.parse(step('npm', ['pack', '--json', '--pack-destination', packed, built]));
    renameSync(join(packed, filename), tarball);
  } finally {
    rmSync(built, { recursive: true, force: true });
    rmSync(packed, { recursive: true, force: true });
  }
}

mkdirSync(store, { recursive: true });
const tarball = join(store, `${digestOfSources()}.tgz`);
if (!existsSync(tarball)) pack(tarball);
console.log(tarball);
