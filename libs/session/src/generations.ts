/** Replicas that can be told apart: as many as a store has seats. */
export const SEATS = 1_024;
/** Even generations are made under a lease; of the odd ones, each seat has every so many-th. */
const STEP = 2 * SEATS;

/**
 * The generation of a session that a replica makes alone: the first of its seat's own that is above `above`. No lease
 * and no other seat ever has it.
 */
export function generationAlone(seat: number, above: number): number {
  const own = 2 * seat + 1;
  const next = Math.floor(above) + 1;
  return next + ((((own - next) % STEP) + STEP) % STEP);
}

/** Whether a replica made the session by itself, and not under a lease. */
export function isMadeAlone(generation: number): boolean {
  return generation % 2 === 1;
}
