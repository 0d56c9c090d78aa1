import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { BenchLine } from './bench-line.js';
import { missedIn } from './bench-line.js';
import { BENCH_NAMES } from './bench-names.js';
import { withFigures } from './figures-page.js';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'figures.md');
const page = readFileSync(PAGE, 'utf8');
const MET: BenchLine = {
  name: 'read',
  value: 51_330.4,
  unit: '1/s',
  ratio: 0.84,
  goal: 0.75,
  baseline: 'bare | server',
};
const SLOW: BenchLine = { name: 'p99', value: 9.512, unit: 'ms', ratio: 7.6, atMost: 3, baseline: 'idle' };
const recorded = { bench: 'http', lines: [MET, SLOW], machine: 'two processors', date: '2026-11-22' };

describe('the page of figures', () => {
  it('has a place for what each bench measures', () => {
    for (const bench of BENCH_NAMES) expect(() => withFigures(page, { ...recorded, bench })).not.toThrow();
    expect(() => withFigures(page, { ...recorded, bench: 'nothing' })).toThrow('no place for the figures of nothing');
  });

  it('gets new figures in the place of those before, and stays as the formatter wants it', async () => {
    // Lines that are part of the one above are indented in the terminal.
    const once = withFigures(page, { ...recorded, lines: [{ ...SLOW, name: `  ${SLOW.name}` }] });
    expect(await format(once, { ...(await resolveConfig(PAGE)), parser: 'markdown' })).toBe(once);
    const twice = withFigures(once, recorded);
    expect(twice).toContain('Measured on 2026-11-22: two processors.');
    expect(twice).toMatch(/\| read +\| 51 330 1\/s +\| 0\.84 +\| >= 0\.75 met +\| bare \\\| server +\|/);
    expect(twice.match(/9\.51 ms/g)).toHaveLength(page.includes('9.51 ms') ? 2 : 1);
    expect(withFigures(twice, recorded)).toBe(twice);
    const options = await resolveConfig(PAGE);
    expect(await format(twice, { ...options, parser: 'markdown' })).toBe(twice);
  });
});

describe('what a run of benches missed', () => {
  it('is told in a line each, and in none where every goal was met', () => {
    expect(missedIn([MET, SLOW])).toBe('Missed, 1 of 2:\n  p99: 7.60, goal <= 3.00');
    expect(missedIn([MET])).toBe('');
  });

  it('is also what is more, or less, than it may be by itself', () => {
    const slow: BenchLine = { name: 'p99', value: 9.512, unit: 'ms', ratio: 7.6, mostValue: 9, baseline: 'idle' };
    expect(missedIn([slow, { ...slow, mostValue: 10 }])).toBe('Missed, 1 of 2:\n  p99: 9.51 ms, goal <= 9 ms');
    const few: BenchLine = {
      name: 'read',
      value: 51_330.4,
      unit: '1/s',
      ratio: 0.84,
      leastValue: 60_000,
      baseline: 'bare',
    };
    expect(missedIn([few])).toContain('51 330 1/s, goal >= 60000 1/s');
  });

  it('is also what could not be measured', () => {
    expect(missedIn([{ ...MET, ratio: Number.NaN }])).toContain('read: NaN');
  });
});
