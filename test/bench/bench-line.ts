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
  const rows = lines.map((line) => [
    line.name,
    `${line.value.toPrecision(4)} ${line.unit}`,
    line.ratio.toFixed(2),
    goalOf(line),
    line.baseline,
  ]);
  const table = [['what', 'measured', 'ratio', 'goal', 'ratio to'], ...rows];
  const widths = table[0]?.map((_cell, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

function goalOf({ ratio, goal, atMost }: BenchLine): string {
  if (goal !== undefined) return `>= ${goal.toFixed(2)} ${ratio >= goal ? 'met' : 'MISSED'}`;
  if (atMost !== undefined) return `<= ${atMost.toFixed(2)} ${ratio <= atMost ? 'met' : 'MISSED'}`;
  return '';
}
