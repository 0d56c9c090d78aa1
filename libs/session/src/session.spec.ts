import { floorOf } from './session.js';
import fc from 'fast-check';

describe('the floor of a claim', () => {
  /** What a store whose clock and memory are behind grants: the first number above the floor. */
  const grantedAbove = (floor: number): number => floor + 1;
  const floors = fc.nat(2_000_000_000_000);

  it('leads to a fence above what it has to exceed, by no more than a round, in one class for each replica', () => {
    fc.assert(
      fc.property(fc.uuid(), floors, floors, (owner, one, other) => {
        const fence = grantedAbove(floorOf(owner, one));
        expect(fence).toBeGreaterThan(one);
        expect(fence - one).toBeLessThanOrEqual(1_024);
        expect(fence % 1_024).toBe(grantedAbove(floorOf(owner, other)) % 1_024);
      }),
    );
  });

  it('leads there from every floor of a round', () => {
    const round = Array.from({ length: 1_024 }, (_, floor) => floor);
    expect(round.filter((floor) => grantedAbove(floorOf('a', floor)) <= floor)).toEqual([]);
  });

  it('keeps two replicas apart that know the same', () => {
    const fences = ['a', 'b', 'c', 'd'].map((owner) => floorOf(owner, 1_000));
    expect(new Set(fences).size).toBe(4);
  });
});
