import { assertFewRemoved } from './changes.js';

describe('a change that lacks more than it may', () => {
  it('names what it lacks, up to five of them', () => {
    const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(() => assertFewRemoved({ path: 'merchants', before, after: [], maxRemoved: 0 })).toThrow(
      'lacks 7 of those in force, more than reload.maxRemoved allows (0): a, b, c, d, e, and 2 more; is the file complete?',
    );
  });

  it.each([
    [0, []],
    [3, ['x']],
    [4, ['a', 'b']],
    [5, ['a', 'b', 'c']],
  ])('is none where it lacks nothing, or no more than half of four: %p, %p are left', (count, after) => {
    const before = ['a', 'b', 'c', 'd', 'e'].slice(0, count);
    expect(() => assertFewRemoved({ path: 'merchants', before, after, maxRemoved: 10 })).not.toThrow();
  });

  it('is one also where few are left of those that there are', () => {
    const before = ['a', 'b', 'c', 'd'];
    expect(() => assertFewRemoved({ path: 'merchants', before, after: ['a'], maxRemoved: 10 })).toThrow(
      'lacks 3 of those in force, more than half of 4: b, c, d; is the file complete? If it is, remove fewer at a time',
    );
  });
});
