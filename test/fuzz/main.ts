import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { parseDurationMs } from '#libs/clock';
import { type BatchResult, type Find, fuzzBatch } from './fuzz-batch.js';
import type { FuzzTarget, OpenTarget } from './fuzz-target.js';
import { allTargets } from './targets.js';

const { values } = parseArgs({
  options: {
    for: { type: 'string', default: '60s' },
    /** Ends after this many instead, however long that takes. */
    inputs: { type: 'string' },
    seed: { type: 'string' },
    /** With the seed of a find: only that one input. */
    path: { type: 'string' },
    /** Names, separated by commas. */
    only: { type: 'string' },
  },
});

interface Running {
  readonly target: FuzzTarget;
  readonly open: OpenTarget;
  inputs: number;
  tookMs: number;
  /** A target with a find is left alone: it would show the same one again. */
  find?: Find;
}

const MAX_SEED = 2 ** 31 - 1;
const seed = values.seed === undefined ? randomInt(MAX_SEED) : Number(values.seed);
let current = 'none';

function chosen(): readonly FuzzTarget[] {
  const names = values.only?.split(',').map((name) => name.trim());
  const unknown = names?.find((name) => !allTargets.some((target) => target.name === name));
  if (unknown !== undefined) {
    throw new Error(`--only: ${unknown} is none of ${allTargets.map(({ name }) => name).join(', ')}`);
  }
  return allTargets.filter(({ name }) => names?.includes(name) ?? true);
}

function ends(): (inputs: number) => boolean {
  const { inputs, path } = values;
  if (path !== undefined) return (done) => done > 0;
  if (inputs !== undefined) return (done) => done >= Number(inputs);
  const forMs = parseDurationMs(values.for);
  if (forMs === undefined) throw new Error(`--for: ${values.for} is not a duration such as 60s`);
  const endsAt = performance.now() + forMs;
  return () => performance.now() >= endsAt;
}

const again = (name: string, find: Pick<Find, 'seed' | 'path'>): string =>
  `npm run fuzz -- --only ${name} --seed ${find.seed} --path ${find.path}`;

async function play(running: Running, roundSeed: number): Promise<void> {
  const { target, open } = running;
  current = `${target.name}, again with: npm run fuzz -- --only ${target.name} --seed ${roundSeed}`;
  const startedAtMs = performance.now();
  const path = values.path === undefined ? {} : { path: values.path };
  const result: BatchResult = await fuzzBatch(open, { seed: roundSeed, runs: target.runsPerRound, ...path });
  running.tookMs += performance.now() - startedAtMs;
  running.inputs += result.inputs;
  if (result.find === undefined) return;
  running.find = result.find;
  console.log(`FIND in ${target.name}: ${result.find.error}`);
  console.log(`  input: ${result.find.input}`);
  console.log(`  again with: ${again(target.name, result.find)}`);
}

function report(all: readonly Running[]): void {
  console.log(`${'target'.padEnd(16)}${'inputs'.padStart(10)}${'inputs/s'.padStart(10)}${'finds'.padStart(7)}`);
  const line = (name: string, figures: readonly number[]): string =>
    name.padEnd(16) + figures.map((figure, index) => String(figure).padStart(index === 2 ? 7 : 10)).join('');
  for (const { target, inputs, tookMs, find } of all)
    console.log(line(target.name, [inputs, Math.round((inputs * 1_000) / tookMs), find === undefined ? 0 : 1]));
  const sum = (of: (running: Running) => number): number => all.reduce((total, running) => total + of(running), 0);
  const total = sum(({ inputs }) => inputs);
  const finds = sum(({ find }) => (find === undefined ? 0 : 1));
  console.log(line('in all', [total, Math.round((total * 1_000) / sum(({ tookMs }) => tookMs)), finds]));
}

async function main(): Promise<number> {
  const targets = chosen();
  const isEnd = ends();
  console.log(`seed ${seed}`);
  const all: Running[] = [];
  for (const target of targets) all.push({ target, open: await target.open(), inputs: 0, tookMs: 0 });
  const done = (): number => all.reduce((total, { inputs }) => total + inputs, 0);
  for (let round = 0; !isEnd(done()) && all.some(({ find }) => find === undefined); round += 1)
    for (const running of all)
      if (running.find === undefined && !(round > 0 && isEnd(done()))) await play(running, (seed + round) % MAX_SEED);
  report(all);
  for (const { open } of all) await open.close();
  return all.filter(({ find }) => find !== undefined).length;
}

/** An error that nothing handles ends this process, as it would end the broker: that is a find, too. */
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error: unknown) => {
    console.log(`FIND: ${event} while feeding ${current}`);
    console.log(error);
    process.exit(1);
  });

process.exit((await main()) === 0 ? 0 : 1);
