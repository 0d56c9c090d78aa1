import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseDurationMs } from '#libs/clock';
import { drawScenario } from './draw-scenario.js';
import type { Violation } from './judge.js';
import { REGRESSIONS } from './regression-cases.js';
import type { Scenario } from './scenario.js';
import { shrink } from './shrink.js';
import { type Outcome, simulate } from './simulation.js';

const TOLD_LINES = 60;
const PROGRESS_EVERY = 500;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    for: { type: 'string', default: '60s' },
    seeds: { type: 'string', default: '1' },
    replicas: { type: 'string', default: '3' },
    /** Keeps each shrunk scenario that fails as a regression case. */
    keep: { type: 'boolean', default: false },
    /** Goes on after a failure, and counts failures. */
    all: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
});

interface Totals {
  createCalls: number;
  needlessCalls: number;
  presented: number;
  refused: number;
  storeSteps: number;
  longestDeadMs: number;
}

async function main(): Promise<number> {
  const first = Number(values.seed);
  const options = { forMs: durationMs(values.for), replicas: Number(values.replicas) };
  const totals = { createCalls: 0, needlessCalls: 0, presented: 0, refused: 0, storeSteps: 0, longestDeadMs: 0 };
  const startedAtMs = performance.now();
  let [played, failed] = [0, 0];
  for (let seed = first; seed < first + Number(values.seeds); seed += 1) {
    const scenario = drawScenario({ seed, ...options });
    const outcome = await simulate(scenario, { keepsTrace: values.trace });
    add(totals, outcome);
    played += 1;
    if (values.trace) console.log(outcome.trace.join('\n'));
    if (outcome.violation !== undefined) {
      failed += 1;
      await report(scenario, outcome.violation);
      if (!values.all) break;
    }
    if (played % PROGRESS_EVERY === 0) console.log(`${played} seeds, ${failed} failed`);
  }
  const tookS = (performance.now() - startedAtMs) / 1_000;
  const virtualS = (played * options.forMs) / 1_000;
  console.log(
    `${played} seeds, ${failed} failed; ${Math.round(virtualS)} virtual seconds in ${tookS.toFixed(1)} s (${Math.round(virtualS / tookS)} times as fast)`,
  );
  console.log(JSON.stringify(totals));
  return failed;
}

async function report(scenario: Scenario, violation: Violation): Promise<void> {
  console.log(`seed ${scenario.seed}: ${violation.invariant} (${Math.round(violation.atMs)} ms)`);
  const play = async (candidate: Scenario): Promise<Violation | undefined> => (await simulate(candidate)).violation;
  const shrunk = await shrink(scenario, violation, play);
  const { violation: found, trace } = await simulate(shrunk, { keepsTrace: true });
  console.log(`  ${found?.detail}`);
  console.log(`  shrunk from ${scenario.faults.length} faults to ${shrunk.faults.length}:`);
  console.log(JSON.stringify(shrunk));
  if (!values.all) console.log(trace.slice(-TOLD_LINES).join('\n'));
  console.log(
    `  again with: npm run simulate:faults -- --seed ${scenario.seed} --for ${values.for} --replicas ${values.replicas}`,
  );
  if (!values.keep) return;
  const file = join(REGRESSIONS, `seed-${scenario.seed}.json`);
  writeFileSync(file, `${JSON.stringify({ shows: violation.invariant, scenario: shrunk }, null, 2)}\n`);
  console.log(`  kept as ${file}`);
}

function add(totals: Totals, { figures }: Outcome): void {
  totals.createCalls += figures.createCalls;
  totals.needlessCalls += figures.needlessCalls;
  totals.presented += figures.presented;
  totals.refused += figures.refused;
  totals.storeSteps += figures.storeSteps;
  totals.longestDeadMs = Math.max(totals.longestDeadMs, Math.round(figures.longestDeadMs));
}

function durationMs(text: string): number {
  const parsed = parseDurationMs(text);
  if (parsed === undefined) throw new Error(`--for: ${text} is not a duration such as 60s`);
  return parsed;
}

process.exit((await main()) === 0 ? 0 : 1);
