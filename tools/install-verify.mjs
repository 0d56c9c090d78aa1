// Installs what only `npm run verify`, lint, mutation tests and benches use: the packages of test/verify, which `npm ci`
// leaves out because they are larger than all others together. Does nothing if they are those of the lock file.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'test', 'verify');
const lock = join(folder, 'package-lock.json');
const installed = join(folder, 'node_modules', '.installed-lock.json');

const isCurrent = () => existsSync(installed) && readFileSync(installed).equals(readFileSync(lock));

if (!isCurrent()) {
  process.stderr.write('Installing the packages of test/verify, once\n');
  const { status } = spawnSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
  copyFileSync(lock, installed);
}
