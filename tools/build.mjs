// Compiles the programs into dist/, and copies what they read as files: `npm run build`, which then bundles the result.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { assetFiles, root } from './build-assets.mjs';

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
});
if (status !== 0) process.exit(status ?? 1);
// All of them are served: one that is gone from the source would stay, and name alerts that another page has now.
rmSync(join(root, 'dist', 'docs', 'runbooks'), { recursive: true, force: true });
for (const file of assetFiles()) cpSync(join(root, file), join(root, 'dist', file));
