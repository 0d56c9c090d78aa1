import { base } from '../../../jest.config.mjs';

const [, swc] = base.transform['^.+\\.ts$'];

/** The specs of the domain, with one of its lines mutated. */
export default {
  ...base,
  testMatch: ['<rootDir>/libs/session/**/*.spec.ts', '<rootDir>/test/faults/*.spec.ts'],
  testEnvironment: '<rootDir>/test/mutation/first-failure-ends.mjs',
  setupFiles: [...base.setupFiles, '<rootDir>/test/mutation/without-shrinking.mjs'],
  testTimeout: 15_000,
  transform: { '^.+\\.ts$': ['<rootDir>/test/mutation/mutated-source.mjs', swc] },
};
