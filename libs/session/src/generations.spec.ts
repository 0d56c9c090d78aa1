import fc from 'fast-check';
import { floorOfSeat, generationAlone, isMadeAlone, SEATS } from './generations.js';

describe('generations that are made alone', () => {
  it('are the first above what is known that belongs to the seat', () => {
    expect(generationAlone(0, 0)).toBe(1);
    expect(generationAlone(0, 1)).toBe(2_049);
    expect(generationAlone(0, 2_048)).toBe(2_049);
    expect(generationAlone(1_023, 2_046)).toBe(2_047);
    expect(generationAlone(1_023, 2_047)).toBe(4_095);
    expect(generationAlone(3, 10.9)).toBe(2_055);
    expect(generationAlone(3, 6.9)).toBe(7);
  });

  it('never meet those of another seat or of a lease, and are little above what is known', () => {
    const made = fc.record({
      seat: fc.integer({ min: 0, max: SEATS - 1 }),
      above: fc.integer({ min: 0, max: 2_000_000_000_000 }),
    });
    fc.assert(
      fc.property(made, made, (one, other) => {
        const generation = generationAlone(one.seat, one.above);
        expect(generation).toBeGreaterThan(one.above);
        expect(generation).toBeLessThanOrEqual(one.above + 2 * SEATS);
        expect(isMadeAlone(generation)).toBe(true);
        if (one.seat !== other.seat) expect(generationAlone(other.seat, other.above)).not.toBe(generation);
      }),
    );
  });

  it('are told from those of a lease', () => {
    expect([isMadeAlone(7), isMadeAlone(8)]).toEqual([true, false]);
  });
});

describe('the floor of a claim', () => {
  /** What a store whose clock and memory are behind grants: the first even number above the floor. */
  const grantedAbove = (floor: number): number => 2 * Math.ceil((floor + 1) / 2);

  it('leads to a fence of the seat, even and above what it has to exceed by no more than a round', () => {
    fc.assert(
      fc.property(fc.nat(SEATS - 1), fc.nat(2_000_000_000_000), (itsSeat, its) => {
        const fence = grantedAbove(floorOfSeat(itsSeat, its));
        expect(fence % 2_048).toBe(2 * itsSeat);
        expect(isMadeAlone(fence)).toBe(false);
        expect(fence - its).toBeGreaterThan(0);
        expect(fence - its).toBeLessThanOrEqual(2_048);
      }),
    );
  });
});
