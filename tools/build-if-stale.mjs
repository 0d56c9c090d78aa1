// Builds dist/ when it is missing or older than a source file. `npm ci` runs it as `dependencies`, so that `npm start`
// has nothing to compile; a production install without the compiler leaves the shipped dist/ alone. Runs on whatever
// Node.js the machine has, from 20 on: npm 10 calls it with its own.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetFiles, root } from './build-assets.mjs';

const stamp = join(root, 'dist', '.built');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const builders = ['build', 'build-assets', 'bundle-programs', 'runbook-pages'].map((name) => `tools/${name}.mjs`);
const settings = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];

const sources = () =>
  ['apps', 'libs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
  );

function isFresh() {
  if (!existsSync(stamp)) return false;
  const builtAt = statSync(stamp).mtimeMs;
  const others = [...assetFiles(), ...settings, ...builders].map((file) => join(root, file));
  return [...sources(), ...others].every((file) => !existsSync(file) || statSync(file).mtimeMs <= builtAt);
}

if (existsSync(compiler) && !isFresh()) {
  const startedAt = new Date();
  const node = join(root, 'node_modules', '.bin', 'node');
  for (const step of ['build.mjs', 'bundle-programs.mjs']) {
    const { status } = spawnSync(existsSync(node) ? node : process.execPath, [join(root, 'tools', step)], {
      cwd: root,
      stdio: ['ignore', process.env.npm_lifecycle_event === 'dependencies' ? 'ignore' : 2, 2],
    });
    if (status !== 0) process.exit(status ?? 1);
  }
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}
