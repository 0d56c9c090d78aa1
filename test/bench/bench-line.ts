/** One figure: what each round measured, and what a bare equivalent took in the same run. */
export interface BenchLine {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  /** In words, and measured in the same rounds, in turns. */
  readonly beside?: { readonly what: string; readonly values: readonly number[] };
  /** The goal: of the ratio, if it is measured beside something, else of the value. Printed, never asserted. */
  readonly least?: number;
  readonly most?: number;
}

interface Figure {
  readonly value: number;
  readonly ratio: number | undefined;
  /** What each round gave of that to which the goal applies. */
  readonly rounds: readonly number[];
}

/** Lines as a table for the terminal. */
export function formatLines(lines: readonly BenchLine[]): string {
  const rows = lines.map((line) => {
    const { value, ratio } = figureOf(line);
    const goal = goalOf(line) === '' ? '' : `${goalOf(line)} ${isMissed(line) ? 'MISSED' : 'met'}`;
    const measured = measuredOf({ value, unit: line.unit });
    return [line.name, measured, ratio?.toFixed(2) ?? '', spreadOf(line), goal, line.beside?.what ?? ''];
  });
  const table = [['what', 'measured', 'ratio', 'rounds', 'goal', 'ratio to'], ...rows];
  const widths = table[0]?.map((_cell, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

/** What the goal applies to, with the least and the most of the rounds. */
export function comparedOf(line: BenchLine): string {
  const { value, ratio } = figureOf(line);
  const compared = ratio === undefined ? measuredOf({ value, unit: line.unit }) : ratio.toFixed(2);
  return `${compared} ${spreadOf(line)}`.trimEnd();
}

export function goalOf({ least, most, unit, beside }: BenchLine): string {
  const inUnit = beside === undefined && unit !== '' ? ` ${unit}` : '';
  if (least !== undefined) return `≥ ${least}${inUnit}`;
  return most === undefined ? '' : `≤ ${most}${inUnit}`;
}

/** What is still to be done, one line each; empty if every goal was met. */
export function missedIn(lines: readonly BenchLine[]): string {
  const missed = lines.filter(isMissed);
  if (missed.length === 0) return '';
  const told = missed.map((line) => `  ${line.name}: ${comparedOf(line)}, goal ${goalOf(line)}`);
  return [`Missed, ${missed.length} of ${lines.length}:`, ...told].join('\n');
}

/** The percentile of a list of measurements; 0 if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** A figure that is not a number misses its goal. */
function isMissed(line: BenchLine): boolean {
  const { value, ratio = value } = figureOf(line);
  const { least, most } = line;
  return (least !== undefined && !(ratio >= least)) || (most !== undefined && !(ratio <= most));
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}

function figureOf({ values, beside }: BenchLine): Figure {
  const value = median(values);
  if (beside === undefined) return { value, ratio: undefined, rounds: values };
  const isInTurns = values.length === beside.values.length;
  const rounds = isInTurns ? values.map((each, round) => each / (beside.values[round] ?? Number.NaN)) : [];
  return { value, ratio: value / median(beside.values), rounds };
}

function spreadOf(line: BenchLine): string {
  const { rounds, ratio } = figureOf(line);
  if (rounds.length < 2) return '';
  const [low, high] = [Math.min(...rounds), Math.max(...rounds)].map((each) =>
    ratio === undefined ? shortOf(each) : each.toFixed(2),
  );
  return `(${low}–${high})`;
}

/** As figures are read: without an exponent. */
function measuredOf({ value, unit }: { readonly value: number; readonly unit: string }): string {
  return unit === '' ? shortOf(value) : `${shortOf(value)} ${unit}`;
}

function shortOf(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  return value === 0 ? '0' : value.toPrecision(3);
}
