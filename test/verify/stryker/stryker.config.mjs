/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'jest-by-file',
  plugins: ['@stryker-mutator/jest-runner', import.meta.resolve('./plugins.mjs')],
  ignorers: ['texts-for-people'],
  coverageAnalysis: 'perTest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  // The module registry of a finished run is not freed while the process lives.
  maxTestRunnerReuse: 60,
  // Below dist/, which lint, tests and the formatter ignore.
  tempDirName: 'dist/mutation/copies',
  ignorePatterns: ['/dist', '/apps', '/deploy', '/docs', '/.demo', '/coverage'],
  disableTypeChecks: false,
  checkers: [],
  reporters: ['clear-text', 'json', 'progress-append-only'],
  clearTextReporter: {
    allowColor: false,
    allowEmojis: false,
    logTests: false,
    reportTests: false,
    reportMutants: true,
  },
  timeoutMS: 6_000,
};
