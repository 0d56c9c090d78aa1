// `npm test`: the tiers one after the other, each with the workers that it may have, and a table of what they took.
//   --tiers unit,adapters   only these
//   --report FILE           as JSON: of each tier its seconds, its counts and its failures
// Everything else goes to jest.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const JEST = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

/** Suites of programs run one at a time, so that nothing in them depends on what runs beside them. */
const TIERS = { unit: [], adapters: [], programs: ['--runInBand'] };

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
const BEGINNING = 600;
const beginningOf = (text) => text.replace(ESCAPES, '').slice(0, BEGINNING);

/** @returns each failed test of a suite, or the suite itself if it could not be run or broke a rule of its tier */
function failuresOf({ name, status, message, assertionResults }) {
  if (status !== 'failed') return [];
  const file = relative(root, name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (failed.length === 0) return [{ test: file, why: beginningOf(message) }];
  return failed.map(({ fullName, failureMessages: [why = ''] }) => ({
    test: `${file}  ${fullName}`,
    why: beginningOf(why),
  }));
}

/** Runs one tier. @returns what it did; a run that ends without a report is a failure of its own */
function runTier(tier, more) {
  const folder = mkdtempSync(join(tmpdir(), 'tests-'));
  const outputFile = join(folder, 'report.json');
  const startedAt = performance.now();
  const own = ['--selectProjects', tier, ...TIERS[tier], '--json', `--outputFile=${outputFile}`];
  // Jest prints to standard error what a person reads; the JSON on standard output is in the file as well.
  const { status } = spawnSync(process.execPath, [...JEST, ...more, ...own], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  try {
    const report = JSON.parse(readFileSync(outputFile, 'utf8'));
    const failures = report.testResults.flatMap(failuresOf);
    if (status !== 0 && failures.length === 0)
      failures.push({ test: `the tier ${tier}`, why: `jest ended with ${status}` });
    const { numTotalTestSuites: suites, numPassedTests: passed, numPendingTests: skipped } = report;
    return { tier, seconds, suites, passed, skipped, failures };
  } catch (error) {
    const why = `jest ended with ${status} and without a report: ${error.message}`;
    return { tier, seconds, suites: 0, passed: 0, skipped: 0, failures: [{ test: `the tier ${tier}`, why }] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values, tokens } = parseArgs({
  options: { tiers: { type: 'string' }, report: { type: 'string' } },
  strict: false,
  tokens: true,
});
const ours = new Set(
  tokens
    .filter(({ kind, name }) => kind === 'option' && ['tiers', 'report'].includes(name))
    .flatMap(({ index, inlineValue }) => (inlineValue ? [index] : [index, index + 1])),
);
const more = process.argv.slice(2).filter((_argument, index) => !ours.has(index));
const chosen = values.tiers?.split(',') ?? Object.keys(TIERS);
const unknown = chosen.filter((tier) => !(tier in TIERS));
if (unknown.length > 0) {
  process.stderr.write(`There is no tier ${unknown.join(', ')}: ${Object.keys(TIERS).join(', ')}\n`);
  process.exit(2);
}
process.stderr.write(`load ${loadavg()[0].toFixed(1)}\n`);

const results = chosen.map((tier) => runTier(tier, [...more, ...(more.length > 0 ? ['--passWithNoTests'] : [])]));
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify({ tiers: results }));

for (const { test, why } of results.flatMap(({ failures }) => failures))
  process.stderr.write(`FAIL ${test}\n${why}\n\n`);
for (const { tier, seconds, suites, passed, failures } of results) {
  const counts = `${suites} suites, ${passed} passed, ${failures.length} failed`;
  process.stderr.write(`${tier.padEnd(9)} ${String(seconds).padStart(4)} s  ${counts}\n`);
}
process.exitCode = results.some(({ failures }) => failures.length > 0) ? 1 : 0;
