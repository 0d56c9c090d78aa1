import { placeOf } from './merchant-place.js';

/** Residue classes of generations: replicas of one class can get one number for two sessions. */
const CLASSES = 1_024;

/**
 * What a claim of this replica gives as its floor, so that the fence is one of its own class. If a store has forgotten
 * a claim and its clock is behind, floors alone decide: without this, two replicas would get one number for two
 * sessions. It stays the same until the floor has passed the fence, so that a repeated claim finds its own lease above it.
 */
export function floorOf(owner: string, floor: number): number {
  const residue = Math.floor(placeOf(owner) * CLASSES);
  const next = Math.floor(floor) + 1;
  return next + ((((residue - next) % CLASSES) + CLASSES) % CLASSES) - 1;
}
