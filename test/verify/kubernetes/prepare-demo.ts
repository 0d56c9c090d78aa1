import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './manifests.js';

/**
 * Runs the script that makes the demo's keys, next to it in `demo`.
 * @returns what it prints
 * @throws Error with what it prints on stderr
 */
export function prepareDemo(demo: string): string {
  const SESSION_BROKER_CLI = `${process.execPath} ${join(root, 'dist/programs/cli.js')}`;
  const env = { ...process.env, SESSION_BROKER_CLI };
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  return execFileSync('sh', [join(demo, 'prepare.sh')], { encoding: 'utf8', env, stdio: [...stdio] });
}
