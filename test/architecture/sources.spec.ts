import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './rule-tables.js';

interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const sourcesIn = (folder: string): SourceFile[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules/'))
    .map((file) => ({ path: `${folder}/${file}`, text: readFileSync(join(root, folder, file), 'utf8') }));

const sources = ['apps', 'libs', 'test'].flatMap(sourcesIn);
const isTest = ({ path }: SourceFile): boolean => /(\.spec|-spec)\.ts$|^test\/|^libs\/testing\//.test(path);
const withLine = (files: readonly SourceFile[], pattern: RegExp): string[] =>
  files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );

const members = ['libs', 'apps'].flatMap((kind) =>
  readdirSync(join(root, kind), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${kind}/${entry.name}`),
);
const libs = members.filter((member) => member.startsWith('libs/'));
const lineCount = (path: string): number => readFileSync(join(root, path), 'utf8').trimEnd().split('\n').length;

describe('the sources', () => {
  it('are found', () => {
    expect(sources.length).toBeGreaterThan(50);
    expect(libs.length).toBeGreaterThan(8);
  });

  it.each(members)('%s says in a README of at most 30 lines what it is for', (member) => {
    expect(existsSync(join(root, member, 'README.md'))).toBe(true);
    // The README of a published package is its manual: its readers have nothing else.
    const bound = existsSync(join(root, member, 'package.json')) ? 320 : 30;
    expect(lineCount(`${member}/README.md`)).toBeLessThanOrEqual(bound);
  });

  it.each(libs)('%s is entered by an index of at most 34 lines that only exports', (lib) => {
    const text = readFileSync(join(root, lib, 'src/index.ts'), 'utf8');
    expect(lineCount(`${lib}/src/index.ts`)).toBeLessThanOrEqual(34);
    const rest = text
      .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      .replaceAll(/export (type \*|\* as \w+|(type )?\{[^}]*\}) from '[^']+';/g, '');
    expect(rest.trim()).toBe('');
  });

  it('install nothing on the machine that runs the tests', () => {
    const calls = /\(\s*['"`](apt|apt-get|apk|brew|dnf|yum)['"`]/;
    expect(withLine([{ path: 'sample', text: `spawnSync(${'"apt"'})` }], calls)).toHaveLength(1);
    expect(withLine(sources, calls)).toEqual([]);
  });

  it.each([
    ['hold no unfinished work', /\b(TO[D]O|FIX[M]E|X{3}|HA[C]K)\b/],
    ['switch no check off', /@ts-(ignore|nocheck|expect-error)|eslint-disab[l]e/],
    [
      'run every test: none is left alone, switched off or still to be written',
      /\b(it|test|describe)\.(on[l]y|to[d]o|fail[i]ng)\b|\b(fi[t]|fdescrib[e]|xi[t]|xdescrib[e]|xtes[t])\(/,
    ],
  ])('%s', (_what, pattern) => {
    expect(withLine(sources, pattern)).toEqual([]);
  });

  it('leave tests out by one function, which says what they need', () => {
    const elsewhere = sources.filter((file) => isTest(file) && file.path !== 'libs/testing/src/needed-tools.ts');
    expect(withLine(elsewhere, /\b(it|test|describe)\.skip\b/)).toEqual([]);
  });

  it('start no program by its name that a machine may lack, but by toolPath, which a suite has to announce', () => {
    // Every machine has these; kubectl and Helm are announced by a requirement of their own, and the container proof
    // looks for docker itself.
    const everywhere = ['sh', 'npm', 'chmod', 'mkfifo', 'grep', 'tar', 'sha256sum', 'setpriv'];
    const there = [...everywhere, 'kubectl', 'helm', 'docker'].join('|');
    const byName = new RegExp(
      `(?<!\\.)\\b(spawn|spawnSync|execFile|execFileSync|run|runToEnd)\\(\\[?['"\`](?!(${there})['"\`])`,
    );
    expect(withLine([{ path: 'sample', text: `spawn(${"'redis-server'"}, [])` }], byName)).toHaveLength(1);
    expect(withLine(sources.filter(isTest), byName)).toEqual([]);
  });

  it('name files in kebab-case, and none by a word that could hold anything', () => {
    const names = sources.map(({ path }) => path.split('/').at(-1)!);
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.ts$/.test(name))).toEqual([]);
    expect(names.filter((name) => /^(utils?|helpers?|common|misc|shared|manager)\b/.test(name))).toEqual([]);
  });

  it('show the kind of a test by its place: pure ones and adapters beside the source, processes in test/', () => {
    const misplaced = sources.filter(
      ({ path }) => (/\.(e2e|verify)-spec\.ts$/.test(path) && !path.startsWith('test/')) || /\.test\.ts$/.test(path),
    );
    expect(misplaced.map(({ path }) => path)).toEqual([]);
  });
});

describe('what the start of a broker loads', () => {
  const imported = /^(?:import|export) (?!type )[^;]*? from '([^']+)';/gms;
  /** Files that, once loaded, load what the pattern names at once: type-only imports are gone by then. */
  const loadersOf = (specifier: RegExp): string[] =>
    sources
      .filter((file) => file.path.startsWith('apps/broker/src/') && !isTest(file))
      .filter(({ text }) => [...text.matchAll(imported)].some(([, from = '']) => specifier.test(from)))
      .map(({ path }) => path);

  it('leaves the library that describes APIs to the first who asks for the contract', () => {
    expect(loadersOf(/^@nestjs\/swagger$/)).toEqual(['apps/broker/src/docs/open-api.ts']);
    expect(loadersOf(/\/open-api\.js$/)).toEqual([]);
  });

  it('takes the rules for bodies in one place, by the public entry of their library', () => {
    expect(loadersOf(/^class-validator\b/)).toEqual(['apps/broker/src/http/body.ts']);
    expect(loadersOf(/^class-validator\//)).toEqual([]);
  });
});
