// Mutants of the Lua scripts against the specs of the Redis adapter on a real redis-server:
// `npm run mutation:lua [-- <script> ...] [--processes <n>] [--every <n>]`. Prints each change that no spec notices.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutantsOf } from './lua-mutants.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const folder = join(root, 'libs/store/src/redis/scripts');
/** In this order, until one notices: what is quick and notices most comes first. */
const SPECS = [
  { file: 'redis-session-store.int-spec', testNamePattern: 'on a single server' },
  // Records of 60 MB and sets of 200 000 take more time than all the others.
  { file: 'redis-damage.int-spec', testNamePattern: '^(?!.*(60 MB|200 000))' },
  { file: 'test/protocol/redis-store.int-spec' },
];
/** A run with its longest spec takes some seconds; one that hangs has noticed, too. */
const HANGS_AFTER_MS = 240_000;
const MUTANTS_PER_PROCESS = 40;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    processes: { type: 'string', default: '2' },
    every: { type: 'string', default: '1' },
    spec: { type: 'string', multiple: true, default: [] },
  },
});
const specs = [...SPECS, ...values.spec.map((file) => ({ file }))];

/** The mutants of one file, by their place in its TypeScript source; the line is that of the file, too. */
function mutantsIn(script) {
  const source = readFileSync(join(folder, script), 'utf8');
  const begin = source.indexOf('String.raw`') + 'String.raw`'.length;
  const lua = source.slice(begin, source.indexOf('`', begin));
  const linesBefore = source.slice(0, begin).split('\n').length - 1;
  return mutantsOf(lua).map(({ start, end, line, ...mutant }) => ({
    ...mutant,
    script,
    start: start + begin,
    end: end + begin,
    line: line + linesBefore,
  }));
}

const isWanted = (script) => positionals.length === 0 || positionals.some((name) => script === `${name}.lua.ts`);
const scripts = readdirSync(folder).filter((script) => script.endsWith('.lua.ts') && isWanted(script));
const queue = scripts.flatMap(mutantsIn).filter((_, index) => index % Number(values.every) === 0);
const results = [];

function startProcess() {
  return fork(join(import.meta.dirname, 'jest-runs.mjs'), {
    cwd: root,
    execArgv: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  });
}

async function ask(child, mutant) {
  const hanging = new AbortController();
  const timer = setTimeout(() => hanging.abort(), HANGS_AFTER_MS);
  try {
    child.send({ mutant, specs });
    const [{ noticedBy }] = await once(child, 'message', { signal: hanging.signal });
    return noticedBy;
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
    child.kill();
    return 'no end';
  } finally {
    clearTimeout(timer);
  }
}

async function work() {
  let child = startProcess();
  for (let run = 1; queue.length > 0; run += 1) {
    const mutant = queue.shift();
    const noticedBy = await ask(child, mutant);
    results.push({ ...mutant, noticedBy });
    if (noticedBy === undefined) {
      console.log(
        `SURVIVED ${mutant.script}:${mutant.line} ${JSON.stringify(mutant.was)} -> ${JSON.stringify(mutant.replacement)}`,
      );
    }
    if (run % MUTANTS_PER_PROCESS === 0 || noticedBy === 'no end') {
      child.kill();
      child = startProcess();
    }
  }
  child.kill();
}

const whole = startProcess();
const broken = await ask(whole, null);
whole.kill();
if (broken !== undefined) throw new Error(`without a mutant, too, this fails: ${broken}`);

await Promise.all(Array.from({ length: Number(values.processes) }, work));
for (const script of scripts) {
  const own = results.filter((result) => result.script === script);
  const killed = own.filter(({ noticedBy }) => noticedBy !== undefined).length;
  console.log(`${script}: ${killed} of ${own.length} noticed (${((100 * killed) / own.length).toFixed(1)} %)`);
}
const killed = results.filter(({ noticedBy }) => noticedBy !== undefined).length;
console.log(`all scripts: ${killed} of ${results.length} noticed (${((100 * killed) / results.length).toFixed(1)} %)`);
mkdirSync(join(root, 'dist/mutation'), { recursive: true });
writeFileSync(join(root, 'dist/mutation/lua.json'), JSON.stringify(results, null, 1));
