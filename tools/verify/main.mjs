// `npm run verify`: what need not be asked at each change. See the usage below.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inTurn, parts } from './parts.mjs';

const USAGE = `npm run verify                    every part in turn: before a release
npm run verify -- --only a,b      these parts: before an issue that touches them is resolved
npm run verify -- --turn [K]      the short parts whose turn it is: at each change. Ten runs one after the other have
                                  each of them once. K is CI_TURN, or else the number of commits
npm run verify -- --list          the parts, what they prove, and which of them are short

The exit code is 1 if a part has failed. As root on Debian, what the parts need is installed first. Elsewhere, tests whose
programs are missing are skipped, and jest counts them; with CI=true their part fails.`;

const root = join(import.meta.dirname, '..', '..');

function fail(message) {
  console.error(message);
  process.exit(2);
}

/** @returns whether it has succeeded; its output is shown as it comes */
const succeeds = (command) => spawnSync(command, { shell: true, cwd: root, stdio: 'inherit' }).status === 0;

/** @returns the parts to run */
function choose({ only, turn }, [given]) {
  if (turn) {
    const commits = () => execFileSync('git', ['rev-list', '--count', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
    const number = given ?? (process.env.CI_TURN || commits());
    if (!/^\d+$/.test(number)) fail(`--turn: "${number}" is no number`);
    return inTurn(Number(number));
  }
  if (only === undefined) return parts;
  const names = only.split(',');
  const unknown = names.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined) fail(`--only: "${unknown}" is none of ${parts.map(({ name }) => name).join(', ')}`);
  return parts.filter(({ name }) => names.includes(name));
}

/** Installs and builds what the tests start. */
function prepare(chosen) {
  const steps = [
    'tools/test-tools.sh verify',
    ...(chosen.some(({ packages }) => packages) ? ['node tools/install-verify.mjs'] : []),
    'node tools/build-if-stale.mjs',
    'node tools/build-pkcs11.mjs --if-possible',
    'node tools/pack-client.mjs > /dev/null',
  ];
  for (const step of steps) if (!succeeds(step)) fail(`"${step}" failed: nothing was verified`);
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
if (values.list) console.table(parts.map(({ name, seconds, proves, needs }) => ({ name, seconds, proves, needs })));
const isMisunderstood = positionals.length > (values.turn ? 1 : 0);
if (values.help || isMisunderstood) console.log(USAGE);
if (values.list || values.help || isMisunderstood) process.exit(isMisunderstood ? 2 : 0);

const chosen = choose(values, positionals);
console.log(`to be run: ${chosen.map(({ name }) => name).join(', ')}`);
prepare(chosen);
const results = chosen.map(({ name, proves, command }) => {
  console.log(`\n== ${name}: ${proves}`);
  const startedMs = performance.now();
  const verdict = succeeds(command) ? 'passed' : 'FAILED';
  return { name, verdict, seconds: Math.round((performance.now() - startedMs) / 1_000) };
});
console.table(results);
process.exitCode = results.every(({ verdict }) => verdict === 'passed') ? 0 : 1;
