// Mutation testing: `npm run mutation -- jwe|session|store [--only <glob>] [--concurrency <n>]`. Changes the sources of a
// lib in small ways, one at a time, in a copy of them, and prints each change that no spec notices.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { targets } from './targets.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', multiple: true }, concurrency: { type: 'string', default: '1' } },
});
const target = targets[positionals[0]];
if (target === undefined) throw new Error(`name what is to be mutated: ${Object.keys(targets).join(', ')}`);

process.chdir(root);
await new Stryker({
  configFile: 'test/mutation/stryker/stryker.config.mjs',
  mutate: values.only ?? target.mutate,
  jest: {
    projectType: 'custom',
    configFile: 'test/mutation/stryker/jest.config.mjs',
    config: { testMatch: target.specs },
    enableFindRelatedTests: false,
  },
  concurrency: Number(values.concurrency),
  jsonReporter: { fileName: `dist/mutation/${positionals[0]}.json` },
}).runMutationTest();
