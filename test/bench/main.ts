import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { benches } from './benches.js';
import { BENCH_NAMES, type BenchName } from './bench-names.js';
import { readArguments, usage } from './arguments.js';
import { type BenchLine, missedIn } from './bench-line.js';
import { type Recorded, withFigures } from './figures-page.js';
import { loadInWords, machineInWords, processorInWords } from './machine.js';
import { runInTurn } from './run-in-turn.js';

const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'reference', 'figures.md');

/**
 * Runs every bench, or those named on the command line: `npm run bench -- jwe`.
 */
async function main(words: readonly string[]): Promise<number> {
  const { names, json, strict, record, help } = readArguments(words);
  const unknown = names.find((name) => !isBench(name));
  if (unknown !== undefined) console.error(`There is no bench "${unknown}".`);
  if (help || unknown !== undefined) {
    console.error(usage(BENCH_NAMES));
    return help ? 0 : 2;
  }
  const chosen = BENCH_NAMES.filter((name) => names.length === 0 || names.includes(name));
  const machine = machineInWords();
  console.error(machine);
  const run = async (name: string): Promise<readonly BenchLine[]> => {
    console.error(`${name} ...`);
    const startedAt = performance.now();
    const when = `${new Date().toISOString().slice(0, 10)}, ${loadInWords()}`;
    const measured = await benches[name as BenchName]();
    console.error(`${name}: ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
    if (record) await recordFigures({ bench: name, lines: measured, processor: processorInWords(), when });
    return measured;
  };
  const lines = await runInTurn(chosen, { machine, json, run, print: (text) => console.log(text) });
  const missed = missedIn(lines);
  if (missed !== '') console.error(missed);
  return strict && missed !== '' ? 1 : 0;
}

const isBench = (name: string): name is BenchName => BENCH_NAMES.some((each) => each === name);

async function recordFigures(recorded: Recorded): Promise<void> {
  await writeFile(PAGE, withFigures(await readFile(PAGE, 'utf8'), recorded));
}

process.exitCode = await main(process.argv.slice(2));
