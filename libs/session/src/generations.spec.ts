import fc from 'fast-check';
import { floorOfSeat, generationAlone, isMadeAlone, SEATS } from './generations.js';

const seat = fc.integer({ min: 0, max: 1_023 });
const above = fc.integer({ min: 0, max: 4_102_444_800_000 });

describe('a generation that is made alone', () => {
  it('has one of 1024 seats', () => {
    expect(SEATS).toBe(1_024);
  });

  const table = {
    'the first seat begins at one': [0, 0, 1],
    'the last seat has the last odd number of a round': [1_023, 0, 2_047],
    'the number that is to be exceeded is never the answer': [0, 1, 2_049],
    'one below its own number, it is that number': [3, 6, 7],
    'a fraction of a millisecond above a number is above it': [3, 6.999, 7],
    'a fraction of a millisecond above its own number, it is the next one': [3, 7.001, 2_055],
    'far above, it is the next one of its own': [5, 1_767_225_600_000, 1_767_225_600_011],
  } as const;

  it.each(Object.entries(table))('%s', (_name, [itsSeat, its, generation]) => {
    expect(generationAlone(itsSeat, its)).toBe(generation);
  });

  it('is odd, above what it has to exceed by no more than a round, and of its own seat', () => {
    fc.assert(
      fc.property(seat, above, (itsSeat, its) => {
        const generation = generationAlone(itsSeat, its);
        expect(isMadeAlone(generation)).toBe(true);
        expect(generation % 2_048).toBe(2 * itsSeat + 1);
        expect(generation - its).toBeGreaterThan(0);
        expect(generation - its).toBeLessThanOrEqual(2_048);
      }),
    );
  });

  it('is never that of another seat, whatever both have seen', () => {
    fc.assert(
      fc.property(seat, seat, fc.tuple(above, above), (one, other, [first, second]) => {
        fc.pre(one !== other);
        expect(generationAlone(one, first)).not.toBe(generationAlone(other, second));
        expect(generationAlone(one, first)).not.toBe(generationAlone(other, first));
      }),
    );
  });

  it('only grows when each is above the one before', () => {
    fc.assert(
      fc.property(seat, above, (itsSeat, its) => {
        const first = generationAlone(itsSeat, its);
        expect(generationAlone(itsSeat, first) - first).toBe(2_048);
      }),
    );
  });

  it.each([
    [0, false],
    [1, true],
    [2, false],
    [1_767_225_600_000, false],
    [1_767_225_600_001, true],
  ])('is told from one under a lease: %d, %s', (generation, alone) => {
    expect(isMadeAlone(generation)).toBe(alone);
  });
});

describe('the floor of a claim', () => {
  /** What a store whose clock and memory are behind grants: the first even number above the floor. */
  const grantedAbove = (floor: number): number => 2 * Math.ceil((floor + 1) / 2);

  it('leads to a fence of the seat, even and above what it has to exceed by no more than a round', () => {
    fc.assert(
      fc.property(seat, above, (itsSeat, its) => {
        const fence = grantedAbove(floorOfSeat(itsSeat, its));
        expect(fence % 2_048).toBe(2 * itsSeat);
        expect(isMadeAlone(fence)).toBe(false);
        expect(fence - its).toBeGreaterThan(0);
        expect(fence - its).toBeLessThanOrEqual(2_048);
      }),
    );
  });

  it('leads to different fences for different seats, in a store that has forgotten the first of two claims', () => {
    fc.assert(
      fc.property(seat, seat, above, (one, other, its) => {
        fc.pre(one !== other);
        expect(grantedAbove(floorOfSeat(one, its))).not.toBe(grantedAbove(floorOfSeat(other, its)));
      }),
    );
  });
});
