import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTestTools } from './tools/test-tools.mjs';

const swc = {
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};

export const base = {
  rootDir: import.meta.dirname,
  testEnvironment: join(import.meta.dirname, 'tools/test-environment.mjs'),
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  transformIgnorePatterns: ['/node_modules/'],
  moduleNameMapper: {
    '^#libs/([^/]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^fast-check$': join(import.meta.dirname, 'tools/seeded-fast-check.mjs'),
    '^real-fast-check$': fileURLToPath(import.meta.resolve('fast-check')),
  },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  setupFiles: ['reflect-metadata'],
  // Looked up once, for all suites.
  globals: { testTools: findTestTools() },
};

/** A tier of the tests: its files, by their suffix, and what its environment lets them use. */
const tier = (name, suffix) => ({
  ...base,
  displayName: name,
  testMatch: [`<rootDir>/{apps,libs,test}/**/*.${suffix}.ts`],
  testEnvironmentOptions: { tier: name },
});

/** @type {import('jest').Config} */
export default {
  // Tests wait for events; on a machine that is busy with other work, how long that takes says nothing about them.
  testTimeout: 180_000,
  maxWorkers: availableParallelism(),
  reporters: ['default', '<rootDir>/tools/skipped-tests-reporter.mjs'],
  projects: [
    tier('unit', 'spec'),
    tier('adapters', 'int-spec'),
    tier('programs', 'e2e-spec'),
    tier('verify', 'verify-spec'),
  ],
};
