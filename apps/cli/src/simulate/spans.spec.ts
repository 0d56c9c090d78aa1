import { seconds } from './spans.js';

describe('a span in words', () => {
  it('is told to the second, and from an hour on to the minute', () => {
    expect([1_094_000, 62_000, 58_000, 49_091_000].map(seconds)).toEqual([...['18m 14s', '1m 2s', '58s', '13h 38m']]);
  });

  it('is 0s only where it is nothing', () => {
    expect([0, 0.2, 300, 499, 500].map(seconds)).toEqual([
      ...['0s', 'less than a second', 'less than a second', 'less than a second', '1s'],
    ]);
  });
});
