import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../architecture/rule-tables.js';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** What a page names in the code spans of its tables, row by row. */
const named = (page: string, form: RegExp): string[] =>
  read(page)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => [...line.matchAll(form)].map(([, name = '']) => name));

const files = globSync('{apps,libs}/*/src/**/*.{ts,js}', { cwd: root }).filter((file) => !file.endsWith('spec.ts'));
const code = files.map(read).join('\n');

it('the glossary has names that the code has', () => {
  const words = new Set(code.replaceAll(/\/\*[\s\S]*?\*\//g, '').match(/\b\w+\b/g));
  const names = named('docs/reference/words.md', /`(\w+)`/g);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !words.has(name))).toEqual([]);
});

/** What brings cryptography into a file: its modules, and the global of the same name. */
const CRYPTOGRAPHY = /from '(?:node:crypto|jose)'|\bcrypto\.subtle\b/;
const EXEMPT = /\.(?:spec|int-spec)\.ts$|-fixtures\.ts$|^libs\/testing\/|^apps\/sandbox\//;

const [, list = ''] =
  /<!-- cryptography: begin -->([\s\S]*)<!-- cryptography: end -->/.exec(
    read('docs/reference/security-inventory.md'),
  ) ?? [];

describe('the inventory of security', () => {
  it('lists every file that uses cryptography, and no other', () => {
    const files = globSync('{apps,libs}/**/src/**/*.ts', { cwd: root }).filter((file) => !EXEMPT.test(file));
    const found = files.filter((file) => CRYPTOGRAPHY.test(read(file))).sort();
    const listed = [...list.matchAll(/^\| `([^`]+)`/gm)].map(([, file = '']) => file);
    expect(found.length).toBeGreaterThan(20);
    expect(listed.toSorted()).toEqual(found);
  });
});
