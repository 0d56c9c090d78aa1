import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { CaseResult } from './matrix-case.js';

const HEAD = [
  'fault',
  'store',
  'calls expected',
  'seen',
  'dead while it lasted',
  'dead after it',
  'recovery',
  'verdict',
];

/** The results as a Markdown table. */
export function tableOf(results: readonly CaseResult[]): string {
  const lines = [HEAD, HEAD.map(() => '---'), ...results.map(cellsOf)];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** One result, as soon as there is one. */
export function lineOf(result: CaseResult): string {
  const [, ...cells] = cellsOf(result);
  return `${result.name}: ${cells.join(' | ')}`;
}

function cellsOf(result: CaseResult): readonly string[] {
  const { expected, seen, recoveryMs } = result;
  return [
    `\`${result.name}\`: ${result.done}`,
    result.topology,
    String(expected),
    String(seen),
    milliseconds(result.whileItLastedMs),
    milliseconds(result.afterItEndedMs),
    recoveryMs === undefined ? 'never' : milliseconds(recoveryMs),
    result.wrong.length === 0 ? 'passed' : `**${result.wrong.join('; ')}**`,
  ];
}

function milliseconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

const MEASURED = /<!-- measured -->[\s\S]*<!-- \/measured -->/;

/** Writes the results into docs/reference/faults.md in place of the previous ones, as the formatter wants it. */
export function writeReliabilityPage(results: readonly CaseResult[], tookMs: number): void {
  const page = join(process.cwd(), 'docs', 'reference', 'faults.md');
  const failed = results.filter(({ wrong }) => wrong.length > 0).length;
  const facts = `${results.length} faults in ${Math.round(tookMs / 1_000)} s on ${cpus().length} processors; ${failed} beyond the goals.`;
  const text = readFileSync(page, 'utf8');
  if (!MEASURED.test(text)) throw new Error('docs/reference/faults.md has no place for what was measured');
  const measured = `<!-- measured -->\n\n${facts}\n\n${tableOf(results)}\n\n<!-- /measured -->`;
  writeFileSync(
    page,
    text.replace(MEASURED, () => measured),
  );
  execFileSync(join(process.cwd(), 'node_modules', '.bin', 'prettier'), ['--log-level', 'error', '--write', page]);
}
