// `npm test`: the tiers one after the other, each with the workers that it may have.
//   --seed N          of the property tests of all tiers; another one in each run if left out
//   --report FOLDER   jest's report of each tier, as JSON
// Everything else goes to jest.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const JEST = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

/** Suites of programs run one at a time, so that nothing in them depends on what runs beside them. */
const TIERS = { unit: [], adapters: [], programs: ['--runInBand'] };

const more = process.argv.slice(2);
const at = more.indexOf('--report');
const [, folder] = at < 0 ? [] : more.splice(at, 2);
const seed = more.some((argument) => argument.startsWith('--seed')) ? [] : ['--seed', String(randomInt(2 ** 31))];
const some = more.length > 0 ? ['--passWithNoTests'] : [];

const statuses = Object.entries(TIERS).map(([tier, own]) => {
  const report = folder === undefined ? [] : ['--json', `--outputFile=${join(resolve(folder), `${tier}.json`)}`];
  const all = [...JEST, '--selectProjects', tier, ...own, '--showSeed', ...seed, ...report, ...some, ...more];
  // Jest prints to standard error what a person reads; the JSON on standard output is in the file as well.
  return spawnSync(process.execPath, all, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }).status;
});
process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
