import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
