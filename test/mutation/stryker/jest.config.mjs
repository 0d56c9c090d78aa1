import { join } from 'node:path';
import { base } from '../../../jest.config.mjs';

/** The unit project alone, in the copy of the sources that is mutated: which specs belong to a target is in targets.mjs. */
export default {
  ...base,
  // Stryker loads it itself, without the names that Jest replaces.
  testEnvironment: join(import.meta.dirname, '..', 'first-failure-ends.mjs'),
  setupFiles: [...base.setupFiles, '<rootDir>/test/mutation/without-shrinking.mjs'],
  // A busy machine does not mean that a mutant was noticed.
  testTimeout: 15_000,
};
