import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../architecture/rule-tables.js';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const words = read('docs/reference/words.md')
  .split('\n')
  .filter((line) => /^\| [a-z]/.test(line) && !line.startsWith('| word '))
  .map((line) => {
    const [, word = '', meaning = '', names = ''] = line.split('|').map((cell) => cell.trim());
    return { word, meaning, names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name) };
  });

const sources = globSync(['{apps,libs}/**/src/**/*.{ts,js}', 'test/**/*.ts'], {
  cwd: root,
  exclude: ['**/node_modules'],
}).map(read);
const code = sources.map((source) => source.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^\s*)\/\/.*$/gm, ''));
const identifiers = new Set(code.flatMap((source) => source.match(/\b\w+\b/g) ?? []));

describe('the glossary', () => {
  it('has each word once, in the order of the alphabet', () => {
    const listed = words.map(({ word }) => word);
    expect(listed.length).toBeGreaterThan(20);
    expect(listed).toEqual([...new Set(listed)].toSorted((one, other) => one.localeCompare(other, 'en')));
  });

  it.each(words)('says what "$word" means, by names that the code has', ({ meaning, names }) => {
    expect(meaning).not.toBe('');
    expect(names.filter((name) => !identifiers.has(name))).toEqual([]);
  });
});

const questions = read('docs/where.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('`'))
  .map((line) => {
    const [, question = '', files = ''] = line.split('|').map((cell) => cell.trim());
    return { question, files: [...files.matchAll(/`([^`]*\/[^`]*)`/g)].map(([, file = '']) => file) };
  });

const imports = new Set(
  globSync('{apps,libs}/*/src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('spec.ts'))
    .flatMap((file) => [...read(file).matchAll(/(?:from |import\()'\.[^']*\/([^/']+)\.js'/g)])
    .map(([, name = '']) => name),
);

describe('the page that says where to look', () => {
  it.each(questions)('names files that are there and in use: $question', ({ files }) => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(files.filter((file) => !imports.has(basename(file, '.ts')))).toEqual([]);
  });
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
