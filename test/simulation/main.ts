import { parseArgs } from 'node:util';
import { parseDurationMs } from '#libs/clock';
import { drawScenario, type Scenario } from './scenario.js';
import { type Outcome, simulate } from './simulation.js';

const TOLD_LINES = 60;
const PROGRESS_EVERY = 500;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    for: { type: 'string', default: '60s' },
    seeds: { type: 'string', default: '1' },
    replicas: { type: 'string', default: '3' },
    /** Goes on after a failure, and counts failures. */
    all: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
});

/** Without the faults that do not matter: each is left out as long as the same is violated. */
async function shrunk(scenario: Scenario, { violation }: Outcome): Promise<Scenario> {
  let smallest = scenario;
  for (const fault of scenario.faults) {
    const without = { ...smallest, faults: smallest.faults.filter((other) => other !== fault) };
    if ((await simulate(without)).violation?.invariant === violation?.invariant) smallest = without;
  }
  return smallest;
}

async function report(scenario: Scenario, outcome: Outcome): Promise<void> {
  const smallest = await shrunk(scenario, outcome);
  const { violation, trace } = await simulate(smallest);
  console.log(`seed ${scenario.seed}: ${violation?.invariant} (${Math.round(violation?.atMs ?? 0)} ms)`);
  console.log(`  ${violation?.detail}`);
  console.log(`  of ${scenario.faults.length} faults, these matter: ${JSON.stringify(smallest.faults)}`);
  if (!values.all) console.log(trace.slice(-TOLD_LINES).join('\n'));
}

const forMs = parseDurationMs(values.for);
if (forMs === undefined) throw new Error(`--for: ${values.for} is not a duration such as 60s`);
const first = Number(values.seed);
const totals = { createCalls: 0, needlessCalls: 0, presented: 0, refused: 0, longestDeadMs: 0 };
const startedAtMs = performance.now();
let [played, failed] = [0, 0];
for (let seed = first; seed < first + Number(values.seeds) && (failed === 0 || values.all); seed += 1) {
  const scenario = drawScenario({ seed, forMs, replicas: Number(values.replicas) });
  const outcome = await simulate(scenario);
  played += 1;
  const { longestDeadMs, ...counts } = outcome.figures;
  for (const [name, count] of Object.entries(counts)) totals[name as keyof typeof counts] += count;
  totals.longestDeadMs = Math.max(totals.longestDeadMs, Math.round(longestDeadMs));
  if (values.trace) console.log(outcome.trace.join('\n'));
  if (outcome.violation !== undefined) {
    failed += 1;
    await report(scenario, outcome);
  }
  if (played % PROGRESS_EVERY === 0) console.log(`${played} seeds, ${failed} failed`);
}
const tookS = (performance.now() - startedAtMs) / 1_000;
console.log(`${played} seeds, ${failed} failed, in ${tookS.toFixed(1)} s`);
console.log(JSON.stringify(totals));
process.exitCode = failed === 0 ? 0 : 1;
