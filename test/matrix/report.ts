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
