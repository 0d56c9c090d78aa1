import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchLine, formatLines, missedIn } from './bench-line.js';
import { benchEgress } from './egress-bench.js';
import { withFigures } from './figures-page.js';
import { benchHandover } from './handover-bench.js';
import { benchHttp, benchTelemetry } from './http-bench.js';
import { benchJwe } from './jwe-bench.js';
import { loadInWords, machineInWords, processorInWords } from './machine.js';
import { benchMemory } from './memory-bench.js';
import { benchPayloads } from './payload-bench.js';
import { benchRenewals } from './renewal-bench.js';
import { benchScale } from './scale-bench.js';
import { benchScrape } from './scrape-bench.js';
import { benchRestart, benchStart } from './start-bench.js';
import { benchStarvation } from './starvation-bench.js';
import { benchWatchers } from './watcher-bench.js';

/** In the order in which they run. */
const BENCHES: Readonly<Record<string, () => Promise<readonly BenchLine[]>>> = {
  jwe: benchJwe,
  http: benchHttp,
  payloads: benchPayloads,
  watchers: benchWatchers,
  handover: benchHandover,
  egress: benchEgress,
  start: benchStart,
  restart: benchRestart,
  memory: benchMemory,
  renewals: benchRenewals,
  scale: benchScale,
  scrape: benchScrape,
  starvation: benchStarvation,
  telemetry: benchTelemetry,
};
const USAGE = `npm run bench -- [--json] [--strict] [--record] [name ...]

names:     ${Object.keys(BENCHES).join(', ')}; none: all of them
--json     a line of JSON for each bench: the machine and what was measured
--strict   exit code 1 where a goal was missed
--record   writes what has a goal into docs/reference/figures.md, in the column of this processor`;
const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'reference', 'figures.md');
const FLAG = { type: 'boolean', default: false } as const;

/** Runs every bench, or those named on the command line, and prints what each measured before the next begins. */
async function main(): Promise<number> {
  const options = { json: FLAG, strict: FLAG, record: FLAG, help: FLAG };
  const { values: flags, positionals: names } = parseArgs({ options, allowPositionals: true });
  const unknown = names.find((name) => !Object.hasOwn(BENCHES, name));
  if (unknown !== undefined) console.error(`There is no bench "${unknown}".`);
  if (flags.help || unknown !== undefined) {
    console.error(USAGE);
    return flags.help ? 0 : 2;
  }
  const machine = machineInWords();
  console.error(machine);
  const all: BenchLine[] = [];
  for (const bench of Object.keys(BENCHES).filter((name) => names.length === 0 || names.includes(name))) {
    const lines = await measured(bench, flags.record);
    console.log(flags.json ? JSON.stringify({ machine, bench, lines }) : formatLines(lines));
    all.push(...lines);
  }
  const missed = missedIn(all);
  if (missed !== '') console.error(missed);
  return flags.strict && missed !== '' ? 1 : 0;
}

async function measured(bench: string, isRecorded: boolean): Promise<readonly BenchLine[]> {
  console.error(`${bench} ...`);
  const startedAt = performance.now();
  const when = `${new Date().toISOString().slice(0, 10)}, ${loadInWords()}`;
  const lines = (await BENCHES[bench]?.()) ?? [];
  console.error(`${bench}: ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
  const recorded = { bench, lines, processor: processorInWords(), when };
  if (isRecorded) await writeFile(PAGE, withFigures(await readFile(PAGE, 'utf8'), recorded));
  return lines;
}

process.exitCode = await main();
