import { type Comparison, effectOf } from './effect.js';

/** What each run loses, in seconds: without the change, and with it. */
const effect = (...runs: readonly (readonly [number, number])[]): string =>
  effectOf(runs.map(([was, is]): Comparison => ({ wasMs: was * 1_000, isMs: is * 1_000 })));

describe('the effect of a change', () => {
  it('is told by what it leaves of each run: nothing, less, about as much, more', () => {
    const left = [0, 80, 95, 105, 120].map((is) => effect([100, is], [100, is]));
    expect(left).toEqual(['bridges', 'shortens', 'none', 'none', 'lengthens']);
  });

  it('is no look of the replicas more or less', () => {
    expect([effect([0.2, 0.9]), effect([0.9, 0.2]), effect([0.9, 0])]).toEqual(['none', 'none', 'bridges']);
  });

  it('shortens where the longest of all is shorter, and where that is no chance', () => {
    expect(effect([1_440, 900], [1_300, 1_320])).toBe('mixed');
    expect(effect([1_440, 900], [1_300, 1_020])).toBe('shortens');
    expect(effect([1_440, 900], [1_300, 1_500])).toBe('may_lengthen');
    expect(effect([1_440, 1_400], [1_300, 1_200])).toBe('none');
    expect(effect([1_440, 200], [1_300, 1_300], [1_400, 1_390], [1_350, 1_350])).toBe('mixed');
  });

  it('shortens also where a run is longer with it that had lost little, and not where as many are', () => {
    const shorter = Array.from({ length: 8 }, (): readonly [number, number] => [13_860, 780]);
    expect(effect(...shorter, [505, 690])).toBe('shortens');
    expect(effect(...shorter, [0, 690])).toBe('shortens');
    expect(effect([13_860, 780], [505, 690], [0, 690], [13_860, 780])).toBe('mixed');
  });

  it('shortens where every run is shorter by more than a twentieth, however much they differ', () => {
    expect(effect([3_526, 2_130], [3_475, 0], [3_420, 2_179], [3_421, 0])).toBe('shortens');
    expect(effect([3_526, 3_152], [3_475, 3_158], [3_426, 3_259])).toBe('shortens');
    expect(effect([1_000, 10], [900, 890], [900, 890], [900, 890])).toBe('mixed');
  });

  it('is a gap that may be longer where one of the runs shows that, and never one that would not help', () => {
    expect(effect([1_440, 2_580], [1_300, 1_310])).toBe('may_lengthen');
    expect(effect([1_440, 2_580], [1_300, 2_400])).toBe('lengthens');
    expect(effect([0, 0], [0, 60])).toBe('may_lengthen');
  });
});
