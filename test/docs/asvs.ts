/** Levels of the requirements in each section of ASVS 5.0.0, in order. */
export type Requirements = Readonly<Record<string, readonly number[]>>;

export interface AsvsRow {
  /** As written: one requirement, or the first and the last of a range. */
  readonly written: string;
  readonly levels: string;
  readonly answer: string;
  readonly how: string;
  readonly shown: string;
}

/** A test file that a row names, and a test in it. */
export interface ShownBy {
  readonly file: string;
  readonly title?: string;
}

/** Numbers of all requirements with their levels, in the order of the standard. */
export function levelsOf(requirements: Requirements): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(requirements).flatMap(([section, levels]) =>
      levels.map((level, index): [string, number] => [`${section}.${index + 1}`, level]),
    ),
  );
}

export function rowsOf(page: string): readonly AsvsRow[] {
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
export function requirementsOf({ written }: AsvsRow, all: readonly string[]): readonly string[] {
  const [first = '', last = first] = written.split('–');
  const [from, to] = [all.indexOf(first), all.indexOf(last)];
  return from < 0 || to < from ? [] : all.slice(from, to + 1);
}

export function shownBy({ shown }: AsvsRow): readonly ShownBy[] {
  return [...shown.matchAll(/`([^`]+)`(?: "([^"]+)")?/g)].map(([, file = '', title]) => ({
    file,
    ...(title === undefined ? {} : { title }),
  }));
}
