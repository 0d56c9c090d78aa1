/** Replicas that can be told apart: as many as a store has seats. */
export const SEATS = 1_024;
/** Even generations are made under a lease, odd ones alone; of each kind, every seat owns one number in this many. */
const STEP = 2 * SEATS;

/**
 * The generation of a session that a replica makes alone: the first of its seat's own that is above `above`. No lease
 * and no other seat ever gets it.
 */
export function generationAlone(seat: number, above: number): number {
  return firstAbove(above, 2 * seat + 1);
}

/**
 * What a claim gives as its floor, so that the resulting fence is one of the seat's own. If a store has forgotten a
 * claim and its clock is behind, floors alone decide: without this, two replicas would get one number for two sessions.
 * It stays the same until the floor has passed the fence, so that a repeated claim finds its own lease above it.
 */
export function floorOfSeat(seat: number, floor: number): number {
  return firstAbove(floor, 2 * seat) - 1;
}

function firstAbove(above: number, residue: number): number {
  const next = Math.floor(above) + 1;
  return next + ((((residue - next) % STEP) + STEP) % STEP);
}

/** Whether a replica made the session by itself, without a lease. */
export function isMadeAlone(generation: number): boolean {
  return generation % 2 === 1;
}
