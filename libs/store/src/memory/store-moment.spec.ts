import { isOver, remainingMs } from './store-moment.js';

const moment = { mark: 'due:1000', endsAtMs: 1_000, lengthMs: 400 };

describe('a moment of the store', () => {
  it.each([
    ['counts down to its end', 700, 300],
    ['is over at its end, and stays over', 1_000, 0],
    ['never owes time', 5_000, 0],
    ['is never further off than when it was set, though the clock was set back', -86_400_000, 400],
  ])('%s', (_name, nowMs, expectedMs) => {
    expect(remainingMs(moment, nowMs)).toBe(expectedMs);
    expect(isOver(moment, nowMs, undefined)).toBe(expectedMs === 0);
  });

  it('is over for a replica that has watched it, and not for one that watched another', () => {
    expect(isOver(moment, 700, moment.mark)).toBe(true);
    expect(isOver(moment, 700, 'due:999')).toBe(false);
  });
});
