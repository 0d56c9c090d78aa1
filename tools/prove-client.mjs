// Tests the client package in the environments people use: on each Node.js, under Jest with CommonJS, within each Nest,
// and in bundles. It installs all of them from the registry into a temporary folder, so it is not an everyday test:
// `npm run prove:client`, or a part: `… -- nest`.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packClient } from './release/artefacts.mjs';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const programs = join(import.meta.dirname, 'prove-client');
const folder = mkdtempSync(join(tmpdir(), 'prove-client-'));
const failures = [];

/** Runs a check, and reports the result in one line. */
async function prove(what, check) {
  try {
    const seen = await check();
    process.stdout.write(`ok      ${what}${seen === undefined ? '' : `: ${seen}`}\n`);
  } catch (error) {
    failures.push(what);
    const said = error.stdout ? `${error.stdout}${error.stderr}` : String(error);
    process.stdout.write(`FAILED  ${what}\n${said.replaceAll(/^/gm, '        ')}\n`);
  }
}

/** A project with the package and others, to hold the programs that use it. */
async function project(name, packages, type = 'commonjs') {
  const home = join(folder, name);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, type }));
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--silent'];
  await run('npm', ['install', ...quiet, archive, ...packages], { cwd: home });
  cpSync(programs, home, { recursive: true });
  const node = (file, ...args) => run(process.execPath, [file, ...args], { cwd: home });
  const versionOf = (of) => JSON.parse(readFileSync(join(home, 'node_modules', of, 'package.json'), 'utf8')).version;
  return { home, node, versionOf };
}

async function demandPaid(outcome) {
  const { stdout } = await outcome;
  if (!stdout.endsWith('paid with generation 2\n')) throw new Error(stdout);
}

async function proveRuntimes() {
  const versions = ['20', '22', '24', '26'];
  const runtime = (version) => `node-${version}@npm:node-${process.platform}-${process.arch}@${version}`;
  const { home, versionOf } = await project('runtimes', versions.map(runtime));
  for (const version of versions) {
    const node = join(home, 'node_modules', `node-${version}`, 'bin/node');
    for (const file of ['service.mjs', 'service.cjs']) {
      await prove(`Node.js ${versionOf(`node-${version}`)}, ${file}`, () =>
        demandPaid(run(node, [file], { cwd: home })),
      );
    }
  }
}

async function proveJest(version) {
  const { node, versionOf } = await project(`jest-${version}`, [`jest@${version}`]);
  await prove(`Jest ${versionOf('jest')} on CommonJS`, async () => {
    await node('node_modules/jest/bin/jest.js', '--testMatch', '**/payments.test.cjs');
  });
}

async function proveNest(version) {
  const parts = [`@nestjs/common@${version}`, `@nestjs/core@${version}`];
  const types = ['reflect-metadata', 'rxjs@7', 'typescript@5.9', '@types/node@24'];
  const { node, versionOf } = await project(`nest-${version}`, [...parts, ...types]);
  const name = `Nest ${versionOf('@nestjs/common')}`;
  await prove(`${name}, types`, async () => {
    await node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json');
  });
  await prove(name, () => demandPaid(node('nest-service.js')));
}

async function proveBundles() {
  const { home, node, versionOf } = await project('bundles', [
    'esbuild',
    'rollup',
    '@rollup/plugin-node-resolve',
    'webpack',
  ]);
  const own = (file) => join(home, file);
  const bundle = async (name, out, build) => {
    await prove(name, async () => {
      await build();
      // Nothing may be left to resolve at run time.
      const alone = mkdtempSync(join(folder, 'alone-'));
      cpSync(own(out), join(alone, out));
      await demandPaid(run(process.execPath, [join(alone, out)]));
    });
  };
  const esbuild = (format, out) =>
    node(
      'node_modules/esbuild/bin/esbuild',
      'service.mjs',
      '--bundle',
      '--platform=node',
      `--format=${format}`,
      '--minify',
      `--outfile=${out}`,
    );
  await bundle(`esbuild ${versionOf('esbuild')} into a module`, 'esbuild.mjs', () => esbuild('esm', 'esbuild.mjs'));
  await bundle(`esbuild ${versionOf('esbuild')} into CommonJS`, 'esbuild.cjs', () => esbuild('cjs', 'esbuild.cjs'));
  await bundle(`Rollup ${versionOf('rollup')}`, 'rollup.mjs', () => node('bundle-by-rollup.mjs'));
  await bundle(`webpack ${versionOf('webpack')}`, 'webpack.cjs', () => node('bundle-by-webpack.mjs'));
  await prove('esbuild, the main entry without Node.js', async () => {
    await node(
      'node_modules/esbuild/bin/esbuild',
      'main-entry.mjs',
      '--bundle',
      '--platform=neutral',
      '--outfile=neutral.mjs',
    );
  });
}

async function proveTraces() {
  const of = (part) => `@opentelemetry/${part}`;
  const { node, versionOf } = await project('traces', ['api', 'sdk-node', 'instrumentation-undici'].map(of));
  const name = `instrumentation-undici ${versionOf(of('instrumentation-undici'))}`;
  for (const [how, seen] of Object.entries({ plain: 'read true, events true', hook: 'read true, events false' })) {
    await prove(`${name}, ${how}: ${seen}`, async () => {
      const { stdout } = await node('traces.cjs', how);
      if (stdout.trim() !== seen) throw new Error(stdout);
    });
  }
}

const parts = {
  runtimes: proveRuntimes,
  jest: () => proveEach(proveJest, ['29', '30']),
  nest: () => proveEach(proveNest, ['10', '11', '12']),
  bundles: proveBundles,
  traces: proveTraces,
};
const proveEach = async (check, versions) => {
  for (const version of versions) await check(version);
};
const { file } = await packClient({ root, folder });
const archive = join(folder, file);
try {
  const wanted = process.argv.slice(2);
  for (const [name, part] of Object.entries(parts)) if (wanted.length === 0 || wanted.includes(name)) await part();
} finally {
  rmSync(folder, { recursive: true });
}
process.stdout.write(failures.length === 0 ? 'all of it\n' : `${failures.length} failed\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
