import { type BenchLine, comparedOf, goalOf } from './bench-line.js';

/** What one bench measured, on which kind of processor, and under which circumstances. */
export interface Recorded {
  readonly bench: string;
  readonly lines: readonly BenchLine[];
  /** It has a column of its own. */
  readonly processor: string;
  /** The day, as in 2026-11-22, and what else ran. */
  readonly when: string;
}

const WHEN = 'measured';
const NOTHING = '–';

/**
 * The page with these figures in the column of their processor. Only what has a goal is on it.
 * @throws Error if the page has no section for the bench
 */
export function withFigures(page: string, recorded: Recorded): string {
  const [before, section, after] = partsOf(page, recorded.bench);
  const [head = [], , ...rows] = section.split('\n').filter(isOfTable).map(cellsOf);
  const others = head.slice(2).filter((processor) => processor !== recorded.processor);
  const ofOthers = (name: string): string[] => {
    const row = rows.find(([each]) => each === name) ?? [];
    return others.map((processor) => row[head.indexOf(processor)] ?? NOTHING);
  };
  const told = recorded.lines.filter((line) => goalOf(line) !== '');
  const table = [
    ['what', 'goal', recorded.processor, ...others],
    ...told.map((line) => [line.name, goalOf(line), comparedOf(line), ...ofOthers(line.name)]),
    [WHEN, '', recorded.when, ...ofOthers(WHEN)],
  ];
  const text = section.split('\n').filter((line) => !isOfTable(line));
  return `${before}${text.join('\n').trim()}\n\n${written(table)}\n${after === '' ? '' : `\n${after}`}`;
}

/** @returns what comes before the bench's section, the section, and what comes after it */
function partsOf(page: string, bench: string): [string, string, string] {
  const start = page.indexOf(`\n## ${bench}\n`) + 1;
  if (start === 0) throw new Error(`the page has no section for ${bench}`);
  const next = page.indexOf('\n## ', start);
  const end = next < 0 ? page.length : next + 1;
  return [page.slice(0, start), page.slice(start, end), page.slice(end)];
}

const isOfTable = (line: string): boolean => line.startsWith('|');

const cellsOf = (row: string): string[] =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

/** As the repository's formatter leaves it. */
function written(table: readonly (readonly string[])[]): string {
  const widths = (table[0] ?? []).map((_, column) => Math.max(3, ...table.map((row) => row[column]?.length ?? 0)));
  const [head, ...rows] = table.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows].join('\n');
}
