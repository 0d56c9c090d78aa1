import fc from 'fast-check';
import { FakeClock } from '#libs/testing';
import { RateLimiter } from './rate-limiter.js';

describe('RateLimiter', () => {
  it('lets a burst through, then as many as its rate, and says when the next one may come', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ perSecond: 2, burst: 3 }, clock);
    expect([1, 2, 3, 4].map(() => limiter.take('a'))).toEqual([0, 0, 0, 500]);
    await clock.advance(499);
    expect(limiter.take('a')).toBe(1);
    await clock.advance(1);
    expect([limiter.take('a'), limiter.take('a')]).toEqual([0, 500]);
  });

  it('counts each caller alone', () => {
    const limiter = new RateLimiter({ perSecond: 1, burst: 1 }, new FakeClock());
    expect([limiter.take('a'), limiter.take('b'), limiter.take('a')]).toEqual([0, 0, 1_000]);
  });

  it('never lets more through than burst and rate allow, whenever they come', async () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(pauses, async (pausesMs) => {
        const clock = new FakeClock();
        const limiter = new RateLimiter({ perSecond: 10, burst: 5 }, clock);
        let taken = 0;
        for (const pauseMs of pausesMs) {
          await clock.advance(pauseMs);
          taken += limiter.take('a') === 0 ? 1 : 0;
          expect(taken).toBeLessThanOrEqual(5 + (clock.monotonicMs() / 1_000) * 10 + 1e-6);
        }
      }),
    );
  });
});
