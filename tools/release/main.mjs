// Makes everything that a release consists of, in one folder, and publishes nothing:
//   npm run release -- [--dry-run] [--unaudited] [--out <folder>] [--builder <uri>]
// It refuses if anything prevents a release; a dry run says what that is, and goes on. docs/releasing.md lists the
// contents.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packChart, packClient, packImage } from './artefacts.mjs';
import { changelogProblems } from './changelog.mjs';
import { checksumsOf } from './checksums.mjs';
import { provenanceOf } from './provenance.mjs';
import { sourceState } from './source-state.mjs';
import { versionProblems } from './version-places.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const DEFAULT_FOLDER = join(root, 'dist', 'release');
const LOCAL_BUILDER = 'urn:session-broker:builder:local';

const { values: options } = parseArgs({
  options: {
    'dry-run': { type: 'boolean' },
    unaudited: { type: 'boolean' },
    out: { type: 'string' },
    builder: { type: 'string' },
  },
});
const isDryRun = options['dry-run'] === true;

/** The default folder is recreated each time; any other has to be empty. */
function emptyFolder() {
  const folder = options.out === undefined ? DEFAULT_FOLDER : resolve(options.out);
  if (options.out === undefined) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  return folder;
}

/** Ends the process if the step fails. */
function step(program, ...args) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * A registry that does not answer has found nothing: the release goes on without its answer only if explicitly told to.
 */
function audit() {
  const demand = options.unaudited === true ? [] : ['--', '--must-answer'];
  const { status } = spawnSync('npm', ['run', '-s', 'audit', ...demand], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status === 0) return;
  const wayOn = 'where it says NOT, name a registry that has an audit (npm_config_registry), or say --unaudited';
  console.error(`refused: npm run audit did not pass${options.unaudited === true ? '' : `; ${wayOn}`}`);
  process.exit(1);
}

function problemsOf(version, source) {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  return [...versionProblems(root), ...changelogProblems(changelog, version), ...source.problems];
}

// npm packs files with the permissions that they have, less this mask.
process.umask(0o022);

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const source = sourceState(root, version);
const problems = problemsOf(version, source);
for (const problem of problems) console.error(`${isDryRun ? 'would be refused' : 'refused'}: ${problem}`);
if (problems.length > 0 && !isDryRun) process.exit(1);

const folder = emptyFolder();
if (isDryRun) step(process.execPath, join(root, 'tools/build-if-stale.mjs'));
else {
  audit();
  step('npm', 'run', '-s', 'build');
}

const of = { root, folder, version, date: source.date };
const [client] = await Promise.all([packClient(of), packImage(of)]);
packChart(of);

const artefacts = readdirSync(folder).sort();
const builder = options.builder ?? LOCAL_BUILDER;
const provenance = provenanceOf({ root, folder, artefacts, version, source, builder });
const statement = `session-broker-${version}.intoto.json`;
writeFileSync(join(folder, statement), `${JSON.stringify(provenance, undefined, 2)}\n`);
const all = [...artefacts, statement].sort();
writeFileSync(join(folder, 'SHA256SUMS'), checksumsOf(folder, all));

console.log(`${version}, ${source.commit ?? 'no commit'}, ${relative(process.cwd(), folder)}`);
for (const file of [...all, 'SHA256SUMS']) {
  console.log(`${String(statSync(join(folder, file)).size).padStart(9)}  ${file}`);
}
console.log(`in ${client.file}: ${client.contents.join(' ')}`);
