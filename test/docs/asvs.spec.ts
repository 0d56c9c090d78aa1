import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Levels of the requirements in each section of ASVS 5.0.0, in order. */
const sections = JSON.parse(read('test/docs/asvs-requirements.json')) as Readonly<Record<string, readonly number[]>>;
const levels = new Map(
  Object.entries(sections).flatMap(([section, of]) =>
    of.map((level, index): [string, number] => [`${section}.${index + 1}`, level]),
  ),
);
const page = read('docs/reference/asvs.md');
const chapter = (title: string): string => page.split(/^## /m).find((one) => one.startsWith(title)) ?? '';
const namedIn = (text: string): readonly string[] => text.match(/\bV\d+\.\d+\.\d+\b/g) ?? [];

describe('the page about ASVS', () => {
  it('names requirements of 5.0.0: 70 of level 1, 183 of level 2, 92 of level 3', () => {
    const ofLevel = (wanted: number): number => [...levels.values()].filter((level) => level === wanted).length;
    expect([1, 2, 3].map(ofLevel)).toEqual([70, 183, 92]);
    expect(namedIn(page).filter((one) => !levels.has(one))).toEqual([]);
  });

  it('goes without requirements of level 3 only', () => {
    const missing = namedIn(chapter('Not done'));
    expect(missing).toHaveLength(6);
    expect(missing.map((one) => levels.get(one))).toEqual(missing.map(() => 3));
  });
});
