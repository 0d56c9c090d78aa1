import fc from 'fast-check';
import { floorOf } from './generations.js';

describe('the floor of a claim', () => {
  /** What a store whose clock and memory are behind grants: the first even number above the floor. */
  const grantedAbove = (floor: number): number => 2 * Math.ceil((floor + 1) / 2);
  const floors = fc.nat(2_000_000_000_000);

  it('leads to a fence above what it has to exceed, by no more than a round, in one class for each replica', () => {
    fc.assert(
      fc.property(fc.uuid(), floors, floors, (owner, one, other) => {
        const fence = grantedAbove(floorOf(owner, one));
        expect(fence).toBeGreaterThan(one);
        expect(fence - one).toBeLessThanOrEqual(2_048);
        expect(fence % 2_048).toBe(grantedAbove(floorOf(owner, other)) % 2_048);
      }),
    );
  });

  it('keeps two replicas apart that know the same', () => {
    const fences = ['a', 'b', 'c', 'd'].map((owner) => floorOf(owner, 1_000));
    expect(new Set(fences).size).toBe(4);
  });
});
