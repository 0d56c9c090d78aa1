import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jest } from '@jest/globals';

interface Suite {
  readonly testFilePath: string;
  readonly testResults: readonly { readonly status: string; readonly ancestorTitles: readonly string[] }[];
}
interface Reporter {
  onRunComplete(contexts: undefined, results: { readonly testResults: readonly Suite[] }): void;
  getLastError(): Error | undefined;
}
interface Module {
  readonly default: new (config: { readonly rootDir: string }) => Reporter;
  readonly reportOf: (suites: readonly Suite[], machine: object) => readonly string[];
}

const file = join(import.meta.dirname, '..', '..', 'tools/skipped-tests-reporter.mjs');
const { default: SkippedTestsReporter, reportOf } = (await import(pathToFileURL(file).href)) as Module;

const tests = (count: number, status: string): Suite['testResults'] =>
  Array.from({ length: count }, () => ({ status, ancestorTitles: ['a suite [needs jq]'] }));
const suites: readonly Suite[] = [
  { testFilePath: '/clone/one.spec.ts', testResults: tests(2, 'pending') },
  { testFilePath: '/clone/other.spec.ts', testResults: [...tests(1, 'pending'), ...tests(1, 'passed')] },
];

describe('a run of the tests on a machine that lacks a program', () => {
  it('ends with the number of the tests that need it, and the reason', () => {
    const found = { jq: { missing: 'jq cannot be found' } };
    expect(reportOf(suites, { found, root: '/clone' })).toEqual([
      '',
      'Skipped for what this machine does not have:',
      expect.stringMatching(/^ {2}jq: 3 tests in 2 suites \(jq cannot be found; .*install jq\)$/),
      'Skipped in all: 3 tests in 2 suites, 1 of them as a whole.',
    ]);
    expect(reportOf([{ testFilePath: 'x', testResults: tests(1, 'passed') }], { found, root: '/clone' })).toEqual([]);
  });

  it.each(['true', 'false'])('fails where CI is %s only if it is true', (isCi) => {
    const printing = jest.spyOn(process, 'once').mockReturnValue(process);
    const before = process.env['CI'];
    process.env['CI'] = isCi;
    const reporter = new SkippedTestsReporter({ rootDir: '/clone' });
    reporter.onRunComplete(undefined, { testResults: suites });
    if (before === undefined) delete process.env['CI'];
    else process.env['CI'] = before;
    printing.mockRestore();
    expect(reporter.getLastError()?.message).toBe(isCi === 'true' ? 'In CI nothing may be skipped.' : undefined);
  });
});
