// Mutants of the Lua scripts against the specs of the Redis adapter on a real redis-server:
// `npm run mutation:lua [-- <script> ...] [--processes <n>] [--every <n>]`. Prints each change that no spec notices.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { LEAST_SCORE } from '../least-score.mjs';
import { mutantsOf } from './lua-mutants.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const folder = 'libs/store/src/redis/scripts';
/** A run of the longest spec takes some seconds; a run that hangs counts as noticing, too. */
const HANGS_AFTER_MS = 240_000;
const JEST = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
/** In this order, until one notices: fast ones that notice most come first. */
const SPECS = [
  ['redis-at-rest'],
  ['redis-full'],
  ['redis-topology', '^one server when it is probed'],
  ['redis-session-store', '^on a single server'],
  // Records of 60 MB and sets of 200 000 take more time than everything else.
  ['redis-damage', '^(?!.*(60 MB|200 000))'],
];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { processes: { type: 'string', default: '2' }, every: { type: 'string', default: '1' } },
});

async function passes([spec, names], mutant) {
  const config = ['--config', 'test/mutation/lua/jest.config.mjs', '--silent', '--runInBand'];
  const args = [...JEST, ...config, '--testPathPatterns', `${spec}.int-spec`, ...(names ? ['-t', names] : [])];
  const env = { ...process.env, MUTANT: JSON.stringify(mutant) };
  try {
    await promisify(execFile)(process.execPath, args, { cwd: root, env, timeout: HANGS_AFTER_MS, maxBuffer: 1 << 26 });
    return true;
  } catch {
    return false;
  }
}

async function survives(mutant) {
  for (const spec of SPECS) if (!(await passes(spec, mutant))) return false;
  return true;
}

/** The mutants of one file, by their position in its TypeScript source. */
function mutantsIn(script) {
  const source = readFileSync(join(root, folder, script), 'utf8');
  const begin = source.indexOf('String.raw`') + 'String.raw`'.length;
  return mutantsOf(source.slice(begin, source.indexOf('`', begin))).map(({ start, end, ...mutant }) => ({
    ...mutant,
    script,
    file: `${folder}/${script}`,
    start: start + begin,
    end: end + begin,
    line: source.slice(0, start + begin).split('\n').length,
  }));
}

const isWanted = (script) => positionals.length === 0 || positionals.some((name) => script === `${name}.lua.ts`);
const scripts = readdirSync(join(root, folder)).filter((script) => script.endsWith('.lua.ts') && isWanted(script));
const queue = scripts.flatMap(mutantsIn).filter((_, index) => index % Number(values.every) === 0);
const all = queue.length;
if (!(await survives({}))) throw new Error('without a mutant, too, a spec fails');
let survived = 0;
const work = async () => {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    if (!(await survives(mutant))) continue;
    survived += 1;
    const { script, line, was, replacement } = mutant;
    console.log(`SURVIVED ${script}:${line} ${JSON.stringify(was)} -> ${JSON.stringify(replacement)}`);
  }
};
await Promise.all(Array.from({ length: Number(values.processes) }, work));
const score = (100 * (all - survived)) / all;
console.log(`${all - survived} of ${all} noticed (${score.toFixed(1)} %), at least ${LEAST_SCORE} % have to be`);
if (score < LEAST_SCORE) process.exitCode = 1;
