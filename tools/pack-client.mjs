// Packs the client package as `npm publish` sends it, and prints where it is: `node tools/pack-client.mjs`. It is kept in
// dist/ under the digest of everything it is made of, so that tests that install it need not each compile it.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** Others may pack the same at the same time: whoever is last replaces the same bytes. */
async function pack(tarball) {
  // Loaded only if there is something to pack: it also knows how to make everything else in a release.
  const { packClient } = await import('./release/artefacts.mjs');
  const folder = mkdtempSync(join(store, 'packing-'));
  try {
    const { file } = await packClient({ root, folder });
    renameSync(join(folder, file), tarball);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

mkdirSync(store, { recursive: true });
const tarball = join(store, `${digestOfSources()}.tgz`);
if (!existsSync(tarball)) await pack(tarball);
console.log(tarball);
