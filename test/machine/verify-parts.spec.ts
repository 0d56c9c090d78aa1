import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..');

interface Part {
  readonly name: string;
  readonly proves: string;
  readonly command: string;
  readonly suites?: readonly string[];
  readonly seconds?: number;
}
interface Turns {
  readonly turnsOf: (parts: readonly Part[]) => readonly (readonly Part[])[];
  readonly turn: (parts: readonly Part[], given: number) => { readonly chosen: readonly Part[] };
}

const load = async <Module>(file: string): Promise<Module> =>
  (await import(pathToFileURL(join(root, 'tools/verify', file)).href)) as Module;
const { parts } = await load<{ parts: readonly Part[] }>('parts.mjs');
const { turn, turnsOf } = await load<Turns>('turns.mjs');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

const suites = globSync('{apps,libs,test}/**/*.verify-spec.ts', { cwd: root });

describe('the parts of verify', () => {
  it.each(suites)('one has %s, and no other does', (suite) => {
    const owners = parts.filter((part) => part.suites?.some((pattern) => new RegExp(pattern).test(suite)));
    expect(owners.map(({ name }) => name)).toHaveLength(1);
  });

  it.each(parts.flatMap(({ name, suites: patterns = [] }) => patterns.map((pattern) => [name, pattern])))(
    '%s has a suite for %s',
    (_name, pattern) => {
      expect(suites.filter((suite) => new RegExp(pattern).test(suite))).not.toEqual([]);
    },
  );

  it.each(parts)('$name runs commands that there are', ({ command }) => {
    const names = [...command.matchAll(/npm run -s (\S+)/g)].map(([, name = '']) => name);
    const files = command.match(/\btools\/\S+/g) ?? [];
    expect([...names, ...files]).not.toEqual([]);
    expect(names.filter((name) => scripts[name] === undefined)).toEqual([]);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('have names of their own', () => {
    expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length);
  });
});

describe('the turns of the short parts', () => {
  const short = parts.filter(({ seconds }) => seconds !== undefined);
  const turns = turnsOf(parts);

  it('have each short part once within ten runs', () => {
    expect(turns.length).toBeLessThanOrEqual(10);
    const runs = Array.from({ length: turns.length }, (_, number) => turn(parts, 1_000 + number).chosen);
    expect(runs.flat().toSorted(byName)).toEqual(short.toSorted(byName));
  });
});

const byName = (one: Part, other: Part): number => one.name.localeCompare(other.name);
