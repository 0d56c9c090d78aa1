import { linesOfSum, sumOf } from './sum-of-merchants.js';

describe('the sum of merchants', () => {
  const withGaps = (...gapsMs: readonly number[]): readonly string[] =>
    linesOfSum(
      sumOf(
        gapsMs.map((withoutSessionMs) => ({
          callsAtMs: [0],
          figures: { failures: {}, withoutSessionMs, budgetRefusals: withoutSessionMs > 0 ? 1 : 0 },
        })),
        3_600_000,
      ),
    ).filter((line) => /budget|without/.test(line));

  it('counts one as one, and has no most of it', () => {
    expect(withGaps(0, 61_000)).toEqual([
      '  budget           renewals of 1 merchant held up',
      '  without session  1 merchant, for 1m 1s',
    ]);
  });

  it('says at most how long, and of what rounds to nothing that it is less than a second', () => {
    expect(withGaps(2_000, 61_000)[1]).toBe('  without session  2 merchants, at most 1m 1s each');
    expect(withGaps(200, 300)[1]).toBe('  without session  2 merchants, less than a second each');
    expect(withGaps(0, 0)).toEqual(['  budget           no renewals held up', '  without session  none']);
  });
});
