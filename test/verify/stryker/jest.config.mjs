import { join } from 'node:path';
import { base } from '../../../jest.config.mjs';

/** The unit project only, in the mutated copy of the sources: targets.mjs says which specs belong to a target. */
export default {
  ...base,
  // Stryker loads it itself, without the placeholders that Jest replaces.
  testEnvironment: join(import.meta.dirname, '..', '..', 'mutation', 'first-failure-ends.mjs'),
  setupFiles: [...base.setupFiles, '<rootDir>/test/mutation/without-shrinking.mjs'],
  // A busy machine does not mean that a mutant was noticed.
  testTimeout: 15_000,
};
