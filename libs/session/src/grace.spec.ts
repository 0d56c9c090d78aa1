import { FakeClock } from '#libs/testing';
import { Grace } from './grace.js';

describe('the grace that others are given', () => {
  it('is over before it has begun', () => {
    expect(new Grace(new FakeClock(), 1_500).leftMs()).toBe(0);
  });

  it('counts down from its beginning, in whole milliseconds, and never owes time', () => {
    const clock = new FakeClock();
    const grace = new Grace(clock, 1_500);
    grace.begin();
    const leftAfterMs = [0, 0.25, 1_499.5, 0.25, 60_000].map((ms) => {
      clock.freeze(ms);
      return grace.leftMs();
    });
    expect(leftAfterMs).toEqual([1_500, 1_500, 1, 0, 0]);
  });

  it('begins anew each time, and is none where nobody else is there', () => {
    const clock = new FakeClock();
    const [grace, none] = [new Grace(clock, 1_500), new Grace(clock, 0)];
    for (const one of [grace, none]) one.begin();
    clock.freeze(1_000);
    for (const one of [grace, none]) one.begin();
    expect([grace.leftMs(), none.leftMs()]).toEqual([1_500, 0]);
  });
});
