// Builds libs/client into dist/client, a folder that can be published as it is: `npm publish ./dist/client`. Another name of
// that folder may be given, beside it: source maps name their sources by the way there.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'libs', 'client');
const [name = 'client'] = process.argv.slice(2);
const target = join(root, 'dist', name);

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', source, '--outDir', join(target, 'dist')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

// What its own tests need does not concern those who install it.
const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
copyFileSync(join(source, 'README.md'), join(target, 'README.md'));
copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
