import { someOf } from './some-of.js';

describe('names as one text', () => {
  it('are at most twenty, or as many as are asked for, and how many more there were', () => {
    const names = Array.from({ length: 23 }, (_, index) => `m${index}`);
    expect(someOf(names)).toMatch(/^m0, m1, .*m19, and 3 more$/);
    expect(someOf(names, 2)).toBe('m0, m1, and 21 more');
  });

  it('are all there where they are few', () => {
    expect([someOf([]), someOf(['a']), someOf(['a', 'b'], 2)]).toEqual(['', 'a', 'a, b']);
  });
});
