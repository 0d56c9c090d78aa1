import { parseArgs } from 'node:util';
import { describeError } from '#libs/errors';
import { matrixCases } from './cases.js';
import { type CaseResult, playCase } from './matrix-case.js';
import { lineOf, tableOf, writeReliabilityPage } from './report.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    list: { type: 'boolean' },
    trace: { type: 'boolean' },
    /** Writes the table into docs/reference/faults.md. */
    document: { type: 'boolean' },
  },
});
// The servers that were started end with this process, but only if it exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const wanted = values.only?.split(',') ?? [];
const chosen = matrixCases.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
if (values.list === true || chosen.length === 0) {
  for (const { name, done } of matrixCases) console.log(`${name}: ${done}`);
  process.exit(values.list === true ? 0 : 1);
}
const startedMs = Date.now();
const results: CaseResult[] = [];
const unplayed: string[] = [];
for (const matrixCase of chosen) {
  try {
    const result = await playCase(matrixCase);
    results.push(result);
    console.error(lineOf(result));
    if (values.trace === true) for (const line of result.trace) console.error(`  ${line}`);
  } catch (error) {
    unplayed.push(matrixCase.name);
    console.error(`${matrixCase.name}: could not be played: ${describeError(error)}`);
  }
}
console.log(tableOf(results));
if (values.document === true) writeReliabilityPage(results, Date.now() - startedMs);
const failed = results.filter(({ wrong }) => wrong.length > 0).length;
console.log(
  `\n${results.length} faults in ${Math.round((Date.now() - startedMs) / 1_000)} s; ${failed} beyond the goals`,
);
if (unplayed.length > 0) console.log(`could not be played: ${unplayed.join(', ')}`);
process.exit(failed + unplayed.length === 0 ? 0 : 1);
