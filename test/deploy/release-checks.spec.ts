import { globSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..');

interface Place {
  readonly file: string;
  readonly version: string;
}

interface ReleaseTools {
  readonly changelogProblems: (text: string, version: string) => readonly string[];
  readonly lastRelease: (text: string) => { readonly version: string; readonly commit: string } | undefined;
  readonly versionPlaces: (root: string) => readonly Place[];
  readonly versionProblems: (root: string) => readonly string[];
  readonly writeVersion: (root: string) => readonly string[];
}

const COMMIT = '0123456789abcdef'.repeat(3).slice(0, 40);
const OWN = '## 1.2.0 - 2026-11-22\n\n- One.\n';
const EARLIER = `## 1.1.0 - 2026-11-21\n\nCommit \`${COMMIT}\`.\n\n- Zero.\n`;

const load = async (file: string): Promise<object> =>
  (await import(pathToFileURL(join(root, 'tools/release', file)).href)) as object;

describe('what a release asks for', () => {
  let tools: ReleaseTools;
  beforeAll(async () => {
    tools = { ...(await load('changelog.mjs')), ...(await load('version-places.mjs')) } as ReleaseTools;
  });

  it('finds one version everywhere', () => {
    expect(tools.versionProblems(root)).toEqual([]);
    const known = tools.versionPlaces(root).map(({ file }) => file);
    expect(known).toContain('package-lock.json');
    const names = /\bsession-broker[-\w]*[:-]\d+\.\d+\.\d+|app\.kubernetes\.io\/version: '\d+\.\d+\.\d|\bVERSION = '/;
    const naming = globSync('{*,{apps,deploy,docs,libs}/**/*}.{md,ts,yaml,yml}', { cwd: root }).filter((file) =>
      names.test(readFileSync(join(root, file), 'utf8')),
    );
    // It shows what one release printed.
    expect(naming.filter((file) => !known.includes(file))).toEqual(['docs/releasing.md']);
  });

  it('finds a place that was forgotten, and writes the version there', () => {
    const copy = mkdtempSync(join(tmpdir(), 'session-broker-version-'));
    try {
      const files = new Set(['package.json', ...tools.versionPlaces(root).map(({ file }) => file)]);
      for (const file of files) {
        mkdirSync(dirname(join(copy, file)), { recursive: true });
        writeFileSync(join(copy, file), readFileSync(join(root, file)));
      }
      const manifest = readFileSync(join(root, 'package.json'), 'utf8');
      writeFileSync(join(copy, 'package.json'), manifest.replace(/"version": "[^"]+"/, '"version": "98.7.6"'));
      expect(tools.versionProblems(copy)).toHaveLength(tools.versionPlaces(root).length);
      expect(tools.writeVersion(copy)).toHaveLength(files.size - 1);
      expect(tools.versionProblems(copy)).toEqual([]);
      const lock = JSON.parse(readFileSync(join(copy, 'package-lock.json'), 'utf8')) as Record<string, object>;
      const before = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Record<string, object>;
      expect(lock['packages']).toEqual({
        ...before['packages'],
        '': { ...(before['packages'] as Record<string, object>)[''], version: '98.7.6' },
      });
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it.each([
    ['a section with a date and entries', `## Unreleased\n\n${OWN}\n${EARLIER}`, []],
    ['no section of the version', EARLIER, ['has no section']],
    ['an earlier release without its commit', `${OWN}\n## 1.1.0 - 2026-11-21\n\n- Zero.\n`, ['begin with its commit']],
    ['no date', '## 1.2.0\n\n- One.\n', ['has no date']],
    ['a section without entries', '## 1.2.0 - 2026-11-22\n', ['is empty']],
    ['entries that nobody released', `## Unreleased\n\n- Two.\n\n${OWN}`, ['Unreleased']],
  ])('reads in a changelog: %s', (_, text, problems) => {
    const found = tools.changelogProblems(`# Changelog\n\n${text}`, '1.2.0');
    expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem) as string));
  });

  it('finds the last release by its commit, which the commit of the next one cannot name', () => {
    expect(tools.lastRelease(`# Changelog\n\n## Unreleased\n\n${OWN}\n${EARLIER}`)).toMatchObject({
      version: '1.1.0',
      commit: COMMIT,
    });
    expect(tools.lastRelease(`# Changelog\n\n${OWN}`)).toBeUndefined();
  });
});
