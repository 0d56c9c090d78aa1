import { FakeClock } from '#libs/testing';
import { boundsWithin } from './connections.js';
import { Places } from './places.js';
import { RateLimiter } from './rate-limiter.js';

describe('the places for requests under way', () => {
  const taken = (places: Places, client: string): number => {
    for (let count = 0; ; count += 1) {
      try {
        places.take(client);
      } catch (error) {
        expect(error).toMatchObject({ code: 'overloaded' });
        return count;
      }
    }
  };

  it('are half for a client alone, and half of what is left for each that comes later', () => {
    const places = new Places(1_024);
    expect(['greedy', 'also greedy', 'late', 'later'].map((client) => taken(places, client))).toEqual([
      512, 256, 128, 64,
    ]);
  });

  it('are taken again once they are given back', () => {
    const places = new Places(2);
    const giveBack = places.take('shop');
    expect(taken(places, 'shop')).toBe(0);
    giveBack();
    expect(taken(places, 'shop')).toBe(1);
  });
});

describe('RateLimiter', () => {
  it('lets a burst through, then as many as its rate, and says when the next one may come', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ perSecond: 2, burst: 3 }, clock);
    expect([1, 2, 3, 4].map(() => limiter.take('a'))).toEqual([0, 0, 0, 500]);
    await clock.advance(499);
    expect(limiter.take('a')).toBe(1);
    await clock.advance(1);
    expect([limiter.take('a'), limiter.take('a')]).toEqual([0, 500]);
    await clock.advance(60_000);
    expect([1, 2, 3, 4].map(() => limiter.take('a'))).toEqual([0, 0, 0, 500]);
  });

  it('counts each caller alone', () => {
    const limiter = new RateLimiter({ perSecond: 1, burst: 1 }, new FakeClock());
    expect([limiter.take('a'), limiter.take('b'), limiter.take('a')]).toEqual([0, 0, 1_000]);
  });
});

const MIB = 1_048_576;

describe('the number of connections', () => {
  it.each([
    ['follows from the memory, with an eighth for an address', 320, { max: 938, perAddress: 118 }],
    ['is small where there is less memory than a program needs', 64, { max: 64, perAddress: 8 }],
    ['ends where memory is not what there is least of', 65_536, { max: 12_000, perAddress: 1_500 }],
  ])('%s', (_name, mib, bounds) => {
    expect(boundsWithin(mib * MIB, {})).toEqual(bounds);
  });

  it('is the one that the configuration names', () => {
    expect(boundsWithin(320 * MIB, { max: 40 })).toEqual({ max: 40, perAddress: 5 });
    expect(boundsWithin(320 * MIB, { max: 40, perAddress: 30 })).toEqual({ max: 40, perAddress: 30 });
  });
});
