import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Levels of the requirements in each section of ASVS 5.0.0, in order. */
type Requirements = Readonly<Record<string, readonly number[]>>;

interface AsvsRow {
  /** As written: one requirement, or the first and the last of a range. */
  readonly written: string;
  readonly levels: string;
  readonly answer: string;
  readonly how: string;
  readonly shown: string;
}

/** A test file that a row names, and a test in it. */
interface ShownBy {
  readonly file: string;
  readonly title?: string;
}

/** Numbers of all requirements with their levels, in the order of the standard. */
function levelsOf(requirements: Requirements): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(requirements).flatMap(([section, levels]) =>
      levels.map((level, index): [string, number] => [`${section}.${index + 1}`, level]),
    ),
  );
}

function rowsOf(page: string): readonly AsvsRow[] {
  return page
    .split('\n')
    .filter((line) => /^\| V\d/.test(line))
    .map((line) => {
      const [, written = '', levels = '', , answer = '', how = '', shown = ''] = line
        .split('|')
        .map((cell) => cell.trim());
      return { written, levels, answer, how, shown };
    });
}

/** @returns the requirements that a row answers; none if it names one that does not exist */
function requirementsOf({ written }: AsvsRow, all: readonly string[]): readonly string[] {
  const [first = '', last = first] = written.split('–');
  const [from, to] = [all.indexOf(first), all.indexOf(last)];
  return from < 0 || to < from ? [] : all.slice(from, to + 1);
}

function shownBy({ shown }: AsvsRow): readonly ShownBy[] {
  return [...shown.matchAll(/`([^`]+)`(?: "([^"]+)")?/g)].map(([, file = '', title]) => ({
    file,
    ...(title === undefined ? {} : { title }),
  }));
}

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const levels = levelsOf(JSON.parse(read('test/docs/asvs-requirements.json')) as Requirements);
const all = [...levels.keys()];
const page = read('docs/asvs.md');
const rows = rowsOf(page);
const having = (answer: string): readonly AsvsRow[] => rows.filter((row) => row.answer === answer);
const writtenOf = (some: readonly AsvsRow[]): readonly string[] => some.map(({ written }) => written);

const isSpec = (file: string): boolean =>
  /^(?:apps|libs|test)\/.*\.(?:spec|int-spec|e2e-spec|verify-spec)\.ts$/.test(file);
const words = (text: string): number => text.split(/\s+/).length;

/** Files that do not exist, and titles that are in none of them. */
function missing(row: AsvsRow): readonly string[] {
  return shownBy(row).flatMap(({ file, title }) => {
    if (!isSpec(file) || !existsSync(join(root, file))) return [`${row.written}: ${file}`];
    const hasTitle = title === undefined || read(file).replaceAll("\\'", "'").includes(`'${title}'`);
    return hasTitle ? [] : [`${row.written}: ${file} has no test "${title}"`];
  });
}

describe('the answers to ASVS', () => {
  it('are to the requirements of 5.0.0: 70 of level 1, 183 of level 2, 92 of level 3', () => {
    const ofLevel = (wanted: number): number => [...levels.values()].filter((level) => level === wanted).length;
    expect([1, 2, 3].map(ofLevel)).toEqual([70, 183, 92]);
  });

  it('are one for each requirement, in their order', () => {
    expect(rows.flatMap((row) => requirementsOf(row, all))).toEqual(all);
    expect(writtenOf(rows.filter((row) => requirementsOf(row, all).length === 0))).toEqual([]);
  });

  it('name the levels of what they answer', () => {
    const levelsIn = (row: AsvsRow): string =>
      [...new Set(requirementsOf(row, all).map((one) => levels.get(one)))].sort().join(', ');
    expect(writtenOf(rows.filter((row) => row.levels !== levelsIn(row)))).toEqual([]);
  });

  it('are one of four, and only level 3 may go without', () => {
    const known = new Set(['met', 'deployment', 'not here', 'not done']);
    expect(writtenOf(rows.filter(({ answer }) => !known.has(answer)))).toEqual([]);
    expect(writtenOf(having('not done').filter((row) => row.levels !== '3'))).toEqual([]);
  });

  it('are shown by a test where they are met', () => {
    expect(writtenOf(having('met').filter((row) => shownBy(row).length === 0))).toEqual([]);
    expect(having('met').length).toBeGreaterThan(150);
  });

  it('name files of tests, and tests in them, that exist', () => {
    expect(rows.flatMap(missing)).toEqual([]);
  });

  it('say why where they do not concern us, are not done, or need somebody else', () => {
    const brief = rows.filter(({ answer, how }) => answer !== 'met' && words(how) < 5);
    expect(writtenOf(brief)).toEqual([]);
    expect(writtenOf(rows.filter(({ how }) => how === ''))).toEqual([]);
  });

  it('leave nothing for later', () => {
    expect(page).not.toMatch(/\b(?:TO[D]O|TBD|FIX[M]E|to be done|later release|planned)\b/i);
  });
});

describe('a row of the answers', () => {
  const row = (written: string, shown = '-'): AsvsRow => {
    const [read] = rowsOf(`| ${written} | 1 | short | met | how | ${shown} |`);
    if (read === undefined) throw new Error('no row');
    return read;
  };

  it('stands for each requirement of its range, also beyond a section', () => {
    expect(requirementsOf(row('V17.1.2–V17.2.2'), all)).toEqual(['V17.1.2', 'V17.2.1', 'V17.2.2']);
    expect(requirementsOf(row('V1.1.1'), all)).toEqual(['V1.1.1']);
  });

  it.each(['V18.1.1', 'V1.1.3', 'V1.1.2–V1.1.1'])('stands for none where there is none: %s', (written) => {
    expect(requirementsOf(row(written), all)).toEqual([]);
  });

  it.each([
    '`test/docs/gone.spec.ts`',
    '`docs/asvs.md`',
    '`test/docs/links.spec.ts` "is a test that is not there"; `test/docs/names-of-code.spec.ts`',
  ])('is found to name what is not there: %s', (shown) => {
    expect(missing(row('V1.1.1', shown))).toHaveLength(1);
  });

  it('is right with a file, and with a test in it', () => {
    const shown = '`test/docs/links.spec.ts` "links to files and headings that are there"; `test/docs/asvs.spec.ts`';
    expect(missing(row('V1.1.1', shown))).toEqual([]);
    expect(shownBy(row('V1.1.1', shown))).toHaveLength(2);
  });
});
