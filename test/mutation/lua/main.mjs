// Mutants of the Lua scripts against the specs of the Redis adapter on a real redis-server:
// `npm run mutation:lua [-- <script> ...] [--processes <n>] [--every <n>]`. Prints each change that no spec notices.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LEAST_SCORE, noticed } from '../noticed.mjs';
import { mutantsOf } from './lua-mutants.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const folder = join(root, 'libs/store/src/redis/scripts');
/** In this order, until one notices: fast ones that notice most come first. */
const SPECS = [
  { file: 'redis-at-rest.int-spec' },
  { file: 'redis-full.int-spec' },
  { file: 'redis-topology.int-spec', testNamePattern: '^one server when it is probed' },
  { file: 'redis-session-store.int-spec', testNamePattern: '^on a single server' },
  // Records of 60 MB and sets of 200 000 take more time than everything else.
  { file: 'redis-damage.int-spec', testNamePattern: '^(?!.*(60 MB|200 000))' },
];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    processes: { type: 'string', default: '2' },
    every: { type: 'string', default: '1' },
    spec: { type: 'string', multiple: true, default: [] },
  },
});
const specs = [...SPECS, ...values.spec.map((file) => ({ file }))];

/** The mutants of one file, by their position in its TypeScript source, with the line of that file as well. */
function mutantsIn(script) {
  const source = readFileSync(join(folder, script), 'utf8');
  const begin = source.indexOf('String.raw`') + 'String.raw`'.length;
  const lua = source.slice(begin, source.indexOf('`', begin));
  const linesBefore = source.slice(0, begin).split('\n').length - 1;
  return mutantsOf(lua).map(({ start, end, line, ...mutant }) => ({
    ...mutant,
    script,
    file: `libs/store/src/redis/scripts/${script}`,
    start: start + begin,
    end: end + begin,
    line: line + linesBefore,
  }));
}

const isWanted = (script) => positionals.length === 0 || positionals.some((name) => script === `${name}.lua.ts`);
const scripts = readdirSync(folder).filter((script) => script.endsWith('.lua.ts') && isWanted(script));
const mutants = scripts.flatMap(mutantsIn).filter((_, index) => index % Number(values.every) === 0);
const results = [];

await noticed({
  mutants,
  specs,
  config: 'test/mutation/lua/jest.config.mjs',
  processes: Number(values.processes),
  onResult: (result) => {
    results.push(result);
    const { script, line, was, replacement, noticedBy } = result;
    if (noticedBy !== undefined) return;
    console.log(`SURVIVED ${script}:${line} ${JSON.stringify(was)} -> ${JSON.stringify(replacement)}`);
  },
});
for (const script of scripts) {
  const own = results.filter((result) => result.script === script);
  const killed = own.filter(({ noticedBy }) => noticedBy !== undefined).length;
  console.log(`${script}: ${killed} of ${own.length} noticed (${((100 * killed) / own.length).toFixed(1)} %)`);
}
const killed = results.filter(({ noticedBy }) => noticedBy !== undefined).length;
const score = (100 * killed) / results.length;
console.log(`all scripts: ${killed} of ${results.length} noticed (${score.toFixed(1)} %)`);
if (score < LEAST_SCORE) process.exitCode = 1;
mkdirSync(join(root, 'dist/mutation'), { recursive: true });
writeFileSync(join(root, 'dist/mutation/lua.json'), JSON.stringify(results, null, 1));
