import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const [, section = ''] = read('docs/architecture.md').split('\n## Words\n');
const [glossary = ''] = section.split('\n## ');
const words = glossary
  .split('\n')
  .filter((line) => /^\| [a-z]/.test(line) && !line.startsWith('| word '))
  .map((line) => {
    const [, word = '', meaning = '', names = ''] = line.split('|').map((cell) => cell.trim());
    return { word, meaning, names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name) };
  });

const sources = globSync(['{apps,libs,test}/**/src/**/*.{ts,js}', 'test/**/*.ts'], { cwd: root }).map(read);
const code = sources.map((source) => source.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^\s*)\/\/.*$/gm, ''));
const identifiers = new Set(code.flatMap((source) => source.match(/\b\w+\b/g) ?? []));

describe('the glossary', () => {
  it('has each word once, in the order of the alphabet', () => {
    const listed = words.map(({ word }) => word);
    expect(listed.length).toBeGreaterThan(30);
    expect(listed).toEqual([...new Set(listed)].toSorted((one, other) => one.localeCompare(other, 'en')));
  });

  it.each(words)('says what "$word" means, by names that the code has', ({ meaning, names }) => {
    expect(meaning).not.toBe('');
    expect(names.filter((name) => !identifiers.has(name))).toEqual([]);
  });

  it('has one pair of words for limits', () => {
    const others = /^(?:MOST|LEAST|LONGEST|SHORTEST|LARGEST|SMALLEST)_/;
    expect([...identifiers].filter((name) => others.test(name))).toEqual([]);
  });
});
