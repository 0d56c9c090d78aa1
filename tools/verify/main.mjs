// `npm run verify`: what need not be asked at each change. See the usage below.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { parts } from './parts.mjs';
import { runPart } from './run-part.mjs';
import { listOf, tableOf } from './tables.mjs';
import { turn } from './turns.mjs';

const USAGE = `npm run verify                    every part in turn: before a release
npm run verify -- --only a,b      these parts: before an issue that touches them is resolved
npm run verify -- --turn [K]      the short parts whose turn it is: at each change. Ten runs one after the other have
                                  each of them once. K is CI_TURN, or else the number of commits
npm run verify -- --list          the parts, what they prove, and which of them are short

Each part says when it begins, how far it is every half a minute, and how it ends. Its whole output is in
coverage/verify/<part>.log; of one that fails the last lines are shown. The exit code is 1 if one has failed.
Properties are drawn from a new seed, which is printed, or TEST_SEED; by --turn, from the seed of every gate.
As root on Debian, what the parts need is installed first. Elsewhere, tests whose programs are missing are skipped, and
the table says so; with CI=true their part fails.`;

const root = join(import.meta.dirname, '..', '..');

function fail(message) {
  console.error(message);
  process.exit(2);
}

/** @returns the parts to run */
function choose({ only, turn: byTurn }, [given]) {
  if (byTurn) {
    const commits = () => execFileSync('git', ['rev-list', '--count', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
    const number = given ?? (process.env.CI_TURN || commits());
    if (!/^\d+$/.test(number)) fail(`--turn: "${number}" is no number`);
    const { chosen, line } = turn(parts, Number(number));
    console.log(line);
    return chosen;
  }
  if (only === undefined) return parts;
  const names = only.split(',');
  const unknown = names.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined) fail(`--only: "${unknown}" is none of ${parts.map(({ name }) => name).join(', ')}`);
  return parts.filter(({ name }) => names.includes(name));
}

/** Installs and builds what the tests start. */
function prepare(chosen) {
  const needsPackages = chosen.some(({ packages }) => packages);
  const steps = [
    'tools/test-tools.sh verify',
    ...(needsPackages ? ['node tools/install-verify.mjs'] : []),
    'node tools/build-if-stale.mjs',
    'node tools/build-pkcs11.mjs --if-possible',
    'node tools/pack-client.mjs > /dev/null',
  ];
  for (const step of steps) {
    const { status } = spawnSync(step, { shell: true, cwd: root, stdio: 'inherit' });
    if (status !== 0) fail(`"${step}" failed: nothing was verified`);
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    turn: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help || values.list || positionals.length > (values.turn ? 1 : 0)) {
  console.log(values.list ? listOf(parts) : USAGE);
  process.exit(values.help || values.list ? 0 : 2);
}
const chosen = choose(values, positionals);
if (!values.turn) {
  process.env.TEST_SEED ??= String(randomInt(2 ** 31));
  console.log(`seed ${process.env.TEST_SEED}`);
}
prepare(chosen);
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stopping.abort());
const folder = join(relative('.', root), 'coverage', 'verify');
const results = [];
for (const part of chosen) {
  const notRun = { name: part.name, seconds: 0, passed: false, verdict: 'not run: stopped' };
  const run = { root, folder, stopping: stopping.signal, say: console.log };
  results.push(stopping.signal.aborted ? notRun : await runPart(part, run));
}
console.log(tableOf(results));
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
