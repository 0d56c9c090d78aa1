// Mutation testing: `npm run mutation -- jwe|session|store [--only <glob>] [--specs <glob>] [--every <n>]
// [--concurrency <n>] [--name <report>]`.
// Changes the sources of a lib in small ways, one at a time, in a copy of them, and prints each change that no spec
// notices.
// With --every 3, one change in three is tried; the others are reported as errors, which do not affect the score. Those
// that no test reaches need not be tried: of them, one in three counts.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { LEAST_SCORE } from '../../mutation/least-score.mjs';
import { targets } from './targets.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    specs: { type: 'string', multiple: true },
    concurrency: { type: 'string', default: '1' },
    every: { type: 'string', default: '1' },
    name: { type: 'string' },
  },
});
const target = targets[positionals[0]];
if (target === undefined) throw new Error(`name what is to be mutated: ${Object.keys(targets).join(', ')}`);

process.chdir(root);
process.env.MUTATION_EVERY = values.every;
const results = await new Stryker({
  configFile: 'test/verify/stryker/stryker.config.mjs',
  mutate: values.only ?? target.mutate,
  jest: {
    projectType: 'custom',
    configFile: 'test/verify/stryker/jest.config.mjs',
    config: { testMatch: values.specs?.map((glob) => `<rootDir>/${glob}`) ?? target.specs },
    enableFindRelatedTests: false,
  },
  concurrency: Number(values.concurrency),
  jsonReporter: { fileName: `dist/mutation/${values.name ?? positionals[0]}.json` },
}).runMutationTest();

const count = (status) => results.filter((result) => result.status === status).length;
const noticed = count('Killed') + count('Timeout');
const score = (100 * noticed) / (noticed + count('Survived') + count('NoCoverage') / Number(values.every));
console.log(`${score.toFixed(1)} % of the changes are noticed, at least ${LEAST_SCORE} % have to be`);
if (!(score >= LEAST_SCORE)) process.exitCode = 1;
