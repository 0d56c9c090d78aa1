import { join } from 'node:path';
import { base } from '../../../jest.config.mjs';

/** Suites that need something, for a run that is looked at from outside. */
export default {
  ...base,
  rootDir: join(import.meta.dirname, '..', '..', '..'),
  testMatch: ['<rootDir>/test/machine/samples/*.sample.ts'],
  reporters: ['default', '<rootDir>/tools/skipped-tests-reporter.mjs'],
};
