// Builds dist/ when it is missing or older than a source file. `npm ci` runs it as `dependencies`, so that `npm start`
// has nothing to compile; a production install without the compiler leaves the shipped dist/ alone.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'dist', '.built');
const compiler = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
const bundler = join(root, 'tools', 'bundle-programs.mjs');
const pages = join(root, 'tools', 'runbook-pages.mjs');

const { projects } = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8'));
const { sourceRoot, compilerOptions } = projects.broker;
const assets = globSync(compilerOptions.assets.map((path) => join(root, sourceRoot, path)));
const sources = ['apps', 'libs'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
);
const settings = ['package-lock.json', 'tsconfig.json', 'nest-cli.json'].map((file) => join(root, file));
const inputs = [...sources, ...assets, ...settings, bundler, pages];

function isFresh() {
  if (!existsSync(stamp)) return false;
  const builtAt = statSync(stamp).mtimeMs;
  return inputs.every((file) => !existsSync(file) || statSync(file).mtimeMs <= builtAt);
}

if (!isFresh() && existsSync(compiler)) {
  const startedAt = new Date();
  const node = join(root, 'node_modules', '.bin', 'node');
  for (const step of [[compiler, 'build', '--all'], [bundler]]) {
    const { status } = spawnSync(existsSync(node) ? node : process.execPath, step, {
      cwd: root,
      stdio: ['ignore', process.env.npm_lifecycle_event === 'dependencies' ? 'ignore' : 2, 2],
    });
    if (status !== 0) process.exit(status ?? 1);
  }
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}
