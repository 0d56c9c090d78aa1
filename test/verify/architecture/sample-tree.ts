import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entryFiles, type ImportSample, targetFiles } from './import-samples.js';
import { root, type RuleTables } from '../../architecture/rule-tables.js';

interface CruiseResult {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
  };
}

/**
 * Writes the samples as a separate checkout below dist/ (where nothing is linted, and from where packages resolve as
 * they do for the real sources), and runs dependency-cruiser on it with the real configuration, as lint does.
 * @returns the names of the rules that refuse each file
 */
export function refusalsOf(samples: readonly ImportSample[], tables: RuleTables): Map<string, Set<string>> {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const tree = mkdtempSync(join(root, 'dist', 'architecture-'));
  try {
    for (const file of ['package.json', 'tsconfig.json', 'test/verify/package.json', 'test/verify/tsconfig.json']) {
      cpSync(join(root, file), join(tree, file));
    }
    const targets = { ...entryFiles(tables), ...targetFiles };
    for (const [file, source] of Object.entries(targets)) write(join(tree, file), source);
    for (const { file, source } of samples) write(join(tree, file), source);
    return cruise(tree);
  } finally {
    rmSync(tree, { recursive: true });
  }
}

function write(file: string, source: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
}

function cruise(tree: string): Map<string, Set<string>> {
  const cruiser = join(root, 'test/verify/node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const config = join(root, '.dependency-cruiser.mjs');
  const args = [cruiser, '--config', config, '--output-type', 'json', 'apps', 'libs', 'test'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (stdout === '') throw new Error(`dependency-cruiser said nothing: ${stderr}`);
  const refusals = new Map<string, Set<string>>();
  for (const { from, rule } of (JSON.parse(stdout) as CruiseResult).summary.violations) {
    refusals.set(from, (refusals.get(from) ?? new Set()).add(rule.name));
  }
  return refusals;
}
