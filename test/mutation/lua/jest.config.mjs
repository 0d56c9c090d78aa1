import { base } from '../../../jest.config.mjs';

const [, swc] = base.transform['^.+\\.ts$'];

/** The specs of the Redis adapter, with one of its scripts mutated. */
export default {
  ...base,
  testMatch: ['<rootDir>/libs/store/src/redis/**/*.int-spec.ts'],
  testEnvironment: '<rootDir>/test/mutation/first-failure-ends.mjs',
  // A busy machine does not mean that a mutant was noticed.
  testTimeout: 15_000,
  transform: { '\\.lua\\.ts$': ['<rootDir>/test/mutation/mutated-source.mjs', swc], ...base.transform },
};
