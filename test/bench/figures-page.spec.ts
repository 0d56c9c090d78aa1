import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { type BenchLine, formatLines, missedIn } from './bench-line.js';
import { BENCH_NAMES } from './bench-names.js';
import { withFigures } from './figures-page.js';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'figures.md');
const page = readFileSync(PAGE, 'utf8');
const READS: BenchLine = {
  name: 'reads',
  unit: '1/s',
  values: [51_330.4, 50_000, 52_000],
  beside: { what: 'a bare server', values: [60_000, 62_500, 65_000] },
  least: 0.75,
};
const SLOW: BenchLine = { name: 'p99', unit: 'ms', values: [9.512], most: 9 };
const recorded = { bench: 'http', lines: [READS, SLOW], processor: '2 of one kind', when: '2026-11-22, load 0.1' };

describe('the page of figures', () => {
  it('has a section for each bench', () => {
    for (const bench of BENCH_NAMES) expect(() => withFigures(page, { ...recorded, bench })).not.toThrow();
    expect(() => withFigures(page, { ...recorded, bench: 'nothing' })).toThrow('no section for nothing');
  });

  it('has the figures of two processors side by side, and stays as the formatter wants it', async () => {
    const one = withFigures('# Figures\n\n## http\n\nReads.\n\n## last\n', recorded);
    const lines = [
      { ...READS, values: [30_000] },
      { ...SLOW, name: 'new' },
    ];
    const both = withFigures(one, { ...recorded, lines, processor: '8 of another', when: '2026-11-23' });
    expect(both.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '-')).toBe(
      [
        ...['# Figures', '', '## http', '', 'Reads.', ''],
        '| what | goal | 8 of another | 2 of one kind |',
        '| - | - | - | - |',
        '| reads | ≥ 0.75 | 0.48 | 0.82 (0.80–0.86) |',
        '| new | ≤ 9 ms | 9.51 ms | – |',
        '| measured | | 2026-11-23 | 2026-11-22, load 0.1 |',
        ...['', '## last', ''],
      ].join('\n'),
    );
    expect(withFigures(both, { ...recorded, lines, processor: '8 of another', when: '2026-11-23' })).toBe(both);
    expect(await format(both, { ...(await resolveConfig(PAGE)), parser: 'markdown' })).toBe(both);
  });

  it('has nothing without a goal, which is only printed', () => {
    const line: BenchLine = { name: 'account', unit: 'ms', values: [9.512] };
    expect(withFigures(page, { ...recorded, lines: [line] })).not.toContain('| account');
    expect(formatLines([line])).toMatch(/account +9\.51 ms/);
  });
});

describe('what a run of benches missed', () => {
  it('is told in a line each, and in none where every goal was met', () => {
    expect(missedIn([READS, SLOW])).toBe('Missed, 1 of 2:\n  p99: 9.51 ms, goal ≤ 9 ms');
    expect(missedIn([READS])).toBe('');
  });

  it('is also what could not be measured', () => {
    expect(missedIn([{ ...READS, values: [Number.NaN] }])).toContain('reads: NaN');
  });
});
