import { parseArgs } from 'node:util';

export interface BenchArguments {
  /** Benches to run, in the order of the list; all if none are named. */
  readonly names: readonly string[];
  /** A line of JSON for each bench instead of a table. */
  readonly json: boolean;
  /** Exit code 1 if a goal was missed. */
  readonly strict: boolean;
  /** Writes the measurements into the page of figures. */
  readonly record: boolean;
  readonly help: boolean;
}

const FLAG = { type: 'boolean', default: false } as const;

/** @throws TypeError for an unknown option */
export function readArguments(words: readonly string[]): BenchArguments {
  const options = { json: FLAG, strict: FLAG, record: FLAG, help: FLAG };
  const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
  return { ...values, names: positionals };
}

export function usage(names: readonly string[]): string {
  return [
    'npm run bench -- [--json] [--strict] [--record] [name ...]',
    '',
    `names:     ${names.join(', ')}; none: all of them`,
    '--json     a line of JSON for each bench: the machine and what was measured',
    '--strict   exit code 1 where a goal was missed',
    '--record   writes what has a goal into docs/reference/figures.md, in the column of this processor',
  ].join('\n');
}
