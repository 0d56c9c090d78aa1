import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A reader decides within a page or two; anything beyond that has its own page. */
const MAX_README_CHARACTERS = 10_000;

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const sectionOf = (page: string, heading: string): string =>
  page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
const rowsOf = (section: string): string[][] =>
  [...section.matchAll(/^\| (`.+) \|$/gm)].map(([, row = '']) => row.split(' | ').map((cell) => cell.trim()));
const codesOf = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

describe('the README', () => {
  const readme = read('README.md');

  it('is short', () => {
    expect(readme.length).toBeLessThan(MAX_README_CHARACTERS);
  });

  it('says how to try it, which way to take, how to run it and where to read on, in this order', () => {
    const headings = [...readme.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Try it', 'Which way is for me', 'Run it in production', 'Where to read on']);
  });

  it('has keys and configurations of production outside the clone, and git takes no key', () => {
    const [, commands = ''] = /```sh\n([^]*?)```/.exec(sectionOf(readme, 'Run it in production')) ?? [];
    const files = [...commands.matchAll(/[\w./-]+\.(?:json|yaml)\b/g)].map(([file]) => file);
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => !/^(?:\.\.\/own|docs\/examples)\//.test(file))).toEqual([]);
    expect(read('.gitignore').split('\n')).toContain('*.jwk.json');
  });
});

describe('the settings that decide most', () => {
  const page = read('docs/configuration.md');
  const chosen = rowsOf(sectionOf(page, 'The settings that decide most'));
  const all = new Map(rowsOf(sectionOf(page, 'Settings')).map(([name, , fallback]) => [codesOf(name)[0], fallback]));

  it.each(chosen)('are settings, with the default that they have: %s', (name, fallback) => {
    const [first = ''] = codesOf(name);
    expect([...all.keys()].filter((known) => known === first || known?.startsWith(first))).not.toEqual([]);
    if (codesOf(fallback).length === 1) expect(codesOf(all.get(first))).toEqual(codesOf(fallback));
  });

  it('are twenty', () => {
    expect(chosen).toHaveLength(20);
  });
});
