// `npm run test:repeat -- 20`: whole gates in a row, each from a new seed, and each test that failed even once.
//   --busy 8 --last 5   the last five of them beside eight loops that never rest
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { busy: { type: 'string', default: '0' }, last: { type: 'string' } },
  allowPositionals: true,
});
const times = Number(positionals[0] ?? 20);
const busy = Number(values.busy);
const beside = Number(values.last ?? times);
const folder = mkdtempSync(join(tmpdir(), 'repeated-'));
const failedTests = new Map();
let failedRuns = 0;

/** Loops that take all the time that they can get. @returns what ends them */
function startLoops(count) {
  const loops = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  return () => loops.forEach((loop) => loop.kill('SIGKILL'));
}

function runOnce(run) {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const loops = run > times - beside ? busy : 0;
  const endLoops = startLoops(loops);
  const seed = String(randomInt(2 ** 31));
  const startedAt = performance.now();
  const { status, stderr } = spawnSync('npm', ['test', '--', '--report', report], {
    env: { ...process.env, TEST_SEED: seed },
    encoding: 'utf8',
    maxBuffer: 1024 ** 3,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const load = loadavg()[0].toFixed(1);
  endLoops();
  let tiers;
  try {
    ({ tiers } = JSON.parse(readFileSync(report, 'utf8')));
  } catch {
    tiers = [{ tier: 'none', seconds: 0, failures: [{ test: 'npm test itself', why: stderr.slice(-2000) }] }];
  }
  const failures = tiers.flatMap((tier) => tier.failures);
  if (status !== 0) failedRuns += 1;
  for (const { test, why } of failures) failedTests.set(test, [...(failedTests.get(test) ?? []), { run, why }]);
  const each = tiers.map((tier) => `${tier.tier} ${tier.seconds}`).join(', ');
  process.stdout.write(
    `run ${run} of ${times}: ${status === 0 ? 'passed' : 'FAILED'}, ${seconds} s (${each}), seed ${seed}, ` +
      `${loops} loops, load ${load}, ${failures.length} failed\n`,
  );
}

for (let run = 1; run <= times; run += 1) runOnce(run);
rmSync(folder, { recursive: true, force: true });
for (const [test, runs] of failedTests) {
  process.stdout.write(`\nFAIL ${test}\n  in run ${runs.map(({ run }) => run).join(', ')}\n${runs[0].why}\n`);
}
process.stdout.write(`\n${times - failedRuns} passed, ${failedRuns} failed\n`);
process.exitCode = failedRuns > 0 ? 1 : 0;
