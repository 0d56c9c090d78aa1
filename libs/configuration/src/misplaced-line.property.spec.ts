import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { readYaml } from './read-yaml.js';

const EXAMPLES = join(import.meta.dirname, '../../../docs/examples');

const changes = ([line, now]: [string, number]): string[] => {
  const written = line.slice(now);
  const moved = [-3, -2, -1, 1, 2, 3].map((by) => now + by).filter((indent) => indent >= 0);
  const blanks = ' '.repeat(now);
  return [...moved.map((indent) => ' '.repeat(indent)), '\t', `${blanks}\t`, `\t${blanks}`].map(
    (each) => each + written,
  );
};

interface Changed {
  readonly name: string;
  readonly at: number;
  readonly text: string;
}

function refusedByYaml(file: string): Changed[] {
  const lines = readFileSync(join(EXAMPLES, file), 'utf8').trimEnd().split('\n');
  return lines.flatMap((line, index) =>
    changes([line, line.length - line.trimStart().length])
      .map((changed) => ({
        name: `line ${index + 1} as ${JSON.stringify(changed.slice(0, 14))}`,
        at: index + 1,
        text: lines.with(index, changed).join('\n'),
      }))
      .filter(({ text }) => parseDocument(text, { logLevel: 'silent' }).errors.length > 0),
  );
}

describe.each(['broker.yaml', 'egress.yaml'])('one line of %s that is indented otherwise', (file) => {
  const cases = refusedByYaml(file);

  it('is refused in enough ways to be looked at', () => expect(cases.length).toBeGreaterThan(80));

  it.each(cases)('is told alone, by its number or by that of the line beside it: $name', ({ at, text }) => {
    const { faults } = readYaml(text, {});
    const said = faults.map(({ problem }) => problem);
    expect(said).toHaveLength(1);
    const named = [...said.join().matchAll(/\bline (\d+)/g)].map(([, line]) => Number(line));
    expect(named.some((line) => Math.abs(line - at) <= 1) ? [] : [said, text]).toEqual([]);
  });
});
