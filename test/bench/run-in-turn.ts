import { type BenchLine, formatLines } from './bench-line.js';

export interface Turns {
  readonly machine: string;
  /** A line of JSON for each bench instead of a table. */
  readonly json: boolean;
  readonly run: (name: string) => Promise<readonly BenchLine[]>;
  readonly print: (text: string) => void;
}

/** Runs benches one after the other and prints what each measured before the next begins: a run cut short loses nothing. */
export async function runInTurn(
  names: readonly string[],
  { machine, json, run, print }: Turns,
): Promise<readonly BenchLine[]> {
  const all: BenchLine[] = [];
  for (const bench of names) {
    const lines = await run(bench);
    print(json ? JSON.stringify({ machine, bench, lines }) : formatLines(lines));
    all.push(...lines);
  }
  return all;
}
