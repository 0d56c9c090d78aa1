// Runs the tests on a Node.js other than the one in the lock file, to know today what an upgrade would break:
//   NODE_VERSION=26 npm run on-node -- [arguments of jest]
// It is installed like the pinned one, as a package from the registry; package.json is not changed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const JEST = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

/** @returns the path of the program */
function installed(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, 'node_modules', '.cache', 'node', version);
  const program = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--prefix', folder];
  run('npm', ['install', ...options, `${name}@${version}`]);
  return program;
}

function run(command, words, env = process.env) {
  const { status, error } = spawnSync(command, words, { cwd: root, env, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

const version = process.env.NODE_VERSION ?? '';
if (!/^\d+(?:\.\d+){0,2}$/.test(version)) {
  console.error('NODE_VERSION=<26, or 26.10.0> npm run on-node -- [arguments of jest]');
  process.exit(2);
}
const node = installed(version);
// Whatever a test starts by name runs on the same Node.js.
const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) };
run(node, ['--version'], env);
run(node, [...JEST, ...process.argv.slice(2)], env);
