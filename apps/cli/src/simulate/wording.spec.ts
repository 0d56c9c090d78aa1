import { span, textOf, together, worded, type Wording } from './wording.js';

const gap = (ms: number, cause = 'because session.budget was spent'): Wording =>
  worded`there was no session for ${span(ms)}${worded`, ${span(ms / 2)} of it after the outage ${cause}`}`;

const both = (one: Wording, other: Wording): string | undefined => {
  const told = together(one, other);
  return told && textOf(told);
};

describe('the same sentence of two merchants', () => {
  it('has one span where both are told alike, and else the shortest and the longest', () => {
    expect(textOf(gap(60_000))).toBe(
      'there was no session for 1m, 30s of it after the outage because session.budget was spent',
    );
    expect(both(gap(60_100), gap(60_000))).toBe(textOf(gap(60_000)));
    expect(both(gap(62_000), gap(58_000))).toMatch(
      /^there was no session for between 58s and 1m 2s, between 29s and 31s /,
    );
  });

  it('is told apart where anything but spans differs, or a span by more than a minute and a tenth', () => {
    expect(both(gap(60_000), gap(60_000, 'in a pause'))).toBeUndefined();
    expect(both(gap(60_000), [textOf(gap(60_000))])).toBeUndefined();
    expect(both(gap(60_000), gap(121_000))).toBeUndefined();
    expect(both(gap(3_600_000), gap(3_900_000))).toMatch(/between 1h and 1h 5m/);
    expect(both(gap(3_600_000), gap(4_100_000))).toBeUndefined();
    const inPart = (ms: number): Wording => worded`${span(1_800_000)}, ${span(ms)} of it`;
    expect([inPart(120_000), inPart(360_000)].map((other) => both(inPart(240_000), other))).toEqual([
      ...['30m, between 2m and 4m of it', '30m, between 4m and 6m of it'],
    ]);
  });

  it('goes by where spans stand, and not by how it was put together', () => {
    expect(both(worded`a ${'b'} ${span(1_000)}`, ['a b ', span(2_000)])).toBe('a b between 1s and 2s');
  });
});
