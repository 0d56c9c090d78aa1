import type { BenchLine } from './bench-line.js';
import { goalOf, measuredOf } from './bench-line.js';

/** What one bench printed, where, and when. */
export interface Recorded {
  readonly bench: string;
  readonly lines: readonly BenchLine[];
  readonly machine: string;
  /** The day, as in 2026-11-22. */
  readonly date: string;
}

const startOf = (bench: string): string => `<!-- figures of ${bench} -->`;
const endOf = (bench: string): string => `<!-- end of ${bench} -->`;

/**
 * The page with these figures in place of those of the same bench.
 * @throws Error if the page has no place for them
 */
export function withFigures(page: string, recorded: Recorded): string {
  const start = page.indexOf(startOf(recorded.bench));
  const end = page.indexOf(endOf(recorded.bench));
  if (start < 0 || end < start) throw new Error(`the page has no place for the figures of ${recorded.bench}`);
  const before = page.slice(0, start + startOf(recorded.bench).length);
  return `${before}\n\n${sectionOf(recorded)}\n\n${page.slice(end)}`;
}

function sectionOf({ lines, machine, date }: Recorded): string {
  const rows = lines.map((line) => [
    line.name.trim(),
    measuredOf(line),
    line.ratio.toFixed(2),
    goalOf(line),
    line.baseline,
  ]);
  const table = [['what', 'measured', 'ratio', 'goal', 'ratio to'], ...rows].map((row) => row.map(inCell));
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const written = table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const [head = '', ...rest] = written;
  return [`Measured on ${date}: ${machine}.`, '', head, rule, ...rest].join('\n');
}

/** As the repository's formatter leaves it. */
function inCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
