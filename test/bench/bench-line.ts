/** One printed row: a rate of ours beside the rate of a bare equivalent, measured in the same run. */
export interface BenchLine {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the value is divided by, in words. */
  readonly baseline: string;
  readonly ratio: number;
  /** The least ratio that we want; printed beside the ratio, never asserted. */
  readonly goal?: number;
  /** The most that the ratio may be, where less is better. */
  readonly atMost?: number;
}

/** Lines as a table for the terminal. */
export function formatLines(lines: readonly BenchLine[]): string {
  const rows = lines.map((line) => [line.name, measuredOf(line), line.ratio.toFixed(2), goalOf(line), line.baseline]);
  const table = [['what', 'measured', 'ratio', 'goal', 'ratio to'], ...rows];
  const widths = table[0]?.map((_cell, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

/** Where figures are read: without an exponent. */
export function measuredOf({ value, unit }: Pick<BenchLine, 'value' | 'unit'>): string {
  const text = value >= 1_000 ? Math.round(value).toLocaleString('en').replaceAll(',', ' ') : value.toPrecision(3);
  return `${text} ${unit}`;
}

export function isMissed({ ratio, goal, atMost }: BenchLine): boolean {
  return (goal !== undefined && !(ratio >= goal)) || (atMost !== undefined && !(ratio <= atMost));
}

/** What is left to do, in a line each; empty where every goal was met. */
export function missedIn(lines: readonly BenchLine[]): string {
  const missed = lines.filter(isMissed);
  if (missed.length === 0) return '';
  const told = missed.map(
    (line) => `  ${line.name}: ${line.ratio.toFixed(2)}, goal ${goalOf(line).replace(' MISSED', '')}`,
  );
  return [`Missed, ${missed.length} of ${lines.length}:`, ...told].join('\n');
}

export function goalOf(line: BenchLine): string {
  const { goal, atMost } = line;
  const verdict = isMissed(line) ? 'MISSED' : 'met';
  if (goal !== undefined) return `>= ${goal.toFixed(2)} ${verdict}`;
  if (atMost !== undefined) return `<= ${atMost.toFixed(2)} ${verdict}`;
  return '';
}
