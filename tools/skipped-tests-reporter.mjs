// Lists at the end of a run which tests were skipped and why, so that nobody mistakes them for passed.
import { relative } from 'node:path';
import { findTestTools, list, remedyOf } from './test-tools.mjs';

const NEEDS = / \[needs ([^\]]+)\]$/;

const isSkipped = ({ status }) => status === 'pending';
const count = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** @returns what a skipped test needs, according to the titles around it, or undefined if none says so */
function needsOf({ ancestorTitles }) {
  return ancestorTitles.map((title) => NEEDS.exec(title)?.[1]).find((needs) => needs !== undefined);
}

/** @returns why it is skipped, and what to do about it */
function explained(needs, found) {
  const parts = needs.split(', ').flatMap((name) => {
    const remedy = list[name] === undefined ? undefined : remedyOf(name);
    return [found[name]?.missing ?? `${name} is missing`, ...(remedy === undefined ? [] : [remedy])];
  });
  return parts.join('; ');
}

function lineOf(needs, files, { found, root }) {
  const tests = count(files.length, 'test');
  const suites = new Set(files);
  if (needs !== undefined) return `  ${needs}: ${tests} in ${count(suites.size, 'suite')} (${explained(needs, found)})`;
  return `  without a reason: ${tests} in ${[...suites].map((file) => relative(root, file)).join(', ')}`;
}

/** @returns the report's lines about the suites of a run, none if nothing was skipped */
export function reportOf(suites, machine) {
  const skipped = suites.flatMap(({ testFilePath, testResults }) =>
    testResults.filter(isSkipped).map((test) => ({ file: testFilePath, needs: needsOf(test) })),
  );
  if (skipped.length === 0) return [];
  const byNeeds = Map.groupBy(skipped, ({ needs }) => needs);
  const lines = [...byNeeds].map(([needs, tests]) =>
    lineOf(
      needs,
      tests.map(({ file }) => file),
      machine,
    ),
  );
  const touched = new Set(skipped.map(({ file }) => file)).size;
  const whole = suites.filter(({ testResults }) => testResults.length > 0 && testResults.every(isSkipped)).length;
  const all = `Skipped in all: ${count(skipped.length, 'test')} in ${count(touched, 'suite')}, ${whole} of them as a whole.`;
  return ['', 'Skipped for what this machine does not have:', ...lines, all];
}

/** A jest reporter. In CI a skipped test fails the run. */
export default class SkippedTestsReporter {
  #config;
  #error;

  constructor(config) {
    this.#config = config;
  }

  onRunComplete(_contexts, { testResults }) {
    // With a test name pattern, jest skips all other tests.
    if (this.#config.testNamePattern) return;
    const lines = reportOf(testResults, { found: findTestTools(), root: this.#config.rootDir });
    if (lines.length === 0) return;
    // Jest prints its summary after all reporters have finished.
    process.once('exit', () => process.stderr.write(lines.map((line) => `${line}\n`).join('')));
    if (process.env.CI === 'true') this.#error = new Error('In CI nothing may be skipped.');
  }

  getLastError() {
    return this.#error;
  }
}
