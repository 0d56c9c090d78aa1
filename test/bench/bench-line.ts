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
  /** The most that the value itself may be, in its unit. */
  readonly mostValue?: number;
  /** The least that the value itself may be, in its unit. */
  readonly leastValue?: number;
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
  return unit === '' ? text : `${text} ${unit}`;
}

/** A figure that is not a number misses its goal. */
export function isMissed({ ratio, value, goal, atMost, mostValue, leastValue }: BenchLine): boolean {
  const isMet = [
    goal === undefined || ratio >= goal,
    atMost === undefined || ratio <= atMost,
    mostValue === undefined || value <= mostValue,
    leastValue === undefined || value >= leastValue,
  ];
  return isMet.includes(false);
}

/** What is left to do, in a line each; empty where every goal was met. */
export function missedIn(lines: readonly BenchLine[]): string {
  const missed = lines.filter(isMissed);
  if (missed.length === 0) return '';
  const told = missed.map((line) => `  ${line.name}: ${comparedOf(line)}, goal ${goalOf(line).replace(' MISSED', '')}`);
  return [`Missed, ${missed.length} of ${lines.length}:`, ...told].join('\n');
}

/** What the goal is set for: the ratio, or the value itself. */
function comparedOf(line: BenchLine): string {
  const isOfRatio = line.goal !== undefined || line.atMost !== undefined;
  return isOfRatio ? line.ratio.toFixed(2) : measuredOf(line);
}

export function goalOf(line: BenchLine): string {
  const { goal, atMost, mostValue, leastValue, unit } = line;
  const verdict = isMissed(line) ? 'MISSED' : 'met';
  if (goal !== undefined) return `>= ${goal.toFixed(2)} ${verdict}`;
  if (atMost !== undefined) return `<= ${atMost.toFixed(2)} ${verdict}`;
  const inUnit = unit === '' ? verdict : `${unit} ${verdict}`;
  if (mostValue !== undefined) return `<= ${mostValue} ${inUnit}`;
  if (leastValue !== undefined) return `>= ${leastValue} ${inUnit}`;
  return '';
}
