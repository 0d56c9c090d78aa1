import { partOf, roundedUp, seconds } from './spans.js';

describe('a span in words', () => {
  it('is told to the second, and from an hour on to the minute', () => {
    expect([1_094_000, 62_000, 58_000, -620_000, 49_091_000].map(seconds)).toEqual([
      ...['18m 14s', '1m 2s', '58s', '-10m 20s', '13h 38m'],
    ]);
  });

  it('is 0s only where it is nothing', () => {
    expect([0, 0.2, 300, 499, 500].map(seconds)).toEqual([
      ...['0s', 'less than a second', 'less than a second', 'less than a second', '1s'],
    ]);
  });

  it('is rounded up to what people write', () => {
    const minutes = [1, 5, 39, 100, 1_166, 2_900, 8_641].map((each) => roundedUp(each * 60_000) / 60_000);
    expect(minutes).toEqual([1, 5, 39, 100, 1_200, 2_940, 10_080]);
  });

  it('is all of a whole that is told alike', () => {
    expect([partOf(300, 400), partOf(59_900, 60_100), partOf(300, 60_000)]).toEqual([
      'all',
      'all',
      'less than a second',
    ]);
  });
});
