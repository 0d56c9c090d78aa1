import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** How many files the questions of the first day may take; any other may take three. */
const MAX_FILES: Readonly<Record<string, number>> = {
  'What does a read of a session pass through?': 8,
  'Why did a read get a 503?': 2,
  'What happens when the broker is stopped?': 3,
  'What does a payment through the egress pass through?': 6,
  'How is a trigger of renewals added?': 3,
  'What does the hash of a merchant in Redis hold?': 1,
  'How is a metric added?': 2,
  'How is a setting added?': 2,
  'Where is the JSON of a session?': 1,
};

const questions = readFileSync(join(root, 'docs/where.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('`'))
  .map((line) => {
    const [, question = '', files = ''] = line.split('|').map((cell) => cell.trim());
    return { question, files: [...files.matchAll(/`([^`]*\/[^`]*)`/g)].map(([, file = '']) => file) };
  });

const imports = new Set(
  globSync('{apps,libs}/*/src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('spec.ts'))
    .flatMap((file) => [
      ...readFileSync(join(root, file), 'utf8').matchAll(/(?:from |import\()'\.[^']*\/([^/']+)\.js'/g),
    ])
    .map(([, name = '']) => name),
);

describe('the page that says where to look', () => {
  it('answers eighteen questions', () => {
    expect(questions).toHaveLength(18);
  });

  it('bounds no question that it does not answer', () => {
    expect(questions.map(({ question }) => question)).toEqual(expect.arrayContaining(Object.keys(MAX_FILES)));
  });

  it.each(questions)('names files that are there and in use: $question', ({ question, files }) => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBeLessThanOrEqual(MAX_FILES[question] ?? 3);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(files.filter((file) => !imports.has(basename(file, '.ts')))).toEqual([]);
  });
});
