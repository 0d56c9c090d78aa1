/** One printed row: our rate next to that of a bare equivalent, measured in the same run. */
export interface BenchLine {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** In words, what the value is divided by. */
  readonly baseline: string;
  readonly ratio: number;
  /** The lowest ratio that we want; printed next to the ratio, never asserted. */
  readonly goal?: number;
  /** The highest ratio allowed, if less is better. */
  readonly atMost?: number;
  /** The highest value allowed, in its unit. */
  readonly mostValue?: number;
  /** The lowest value allowed, in its unit. */
  readonly leastValue?: number;
}

/** Lines as a table for the terminal. */
export function formatLines(lines: readonly BenchLine[]): string {
  const rows = lines.map((line) => [line.name, measuredOf(line), line.ratio.toFixed(2), goalOf(line), line.baseline]);
  const table = [['what', 'measured', 'ratio', 'goal', 'ratio to'], ...rows];
  const widths = table[0]?.map((_cell, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

/** As figures are read: without an exponent. */
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

/** What is still to be done, one line each; empty if every goal was met. */
export function missedIn(lines: readonly BenchLine[]): string {
  const missed = lines.filter(isMissed);
  if (missed.length === 0) return '';
  const told = missed.map((line) => `  ${line.name}: ${comparedOf(line)}, goal ${goalOf(line).replace(' MISSED', '')}`);
  return [`Missed, ${missed.length} of ${lines.length}:`, ...told].join('\n');
}

/** What the goal applies to: the ratio, or the value itself. */
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
