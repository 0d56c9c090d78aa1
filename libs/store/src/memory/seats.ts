/** Generations that are made alone are kept apart by this many residue classes. */
export const SEAT_COUNT = 1_024;

/** The seats of the replicas: one each, the same for as long as it is remembered. */
export class Seats {
  /** In the order of their last use: the owner that has been unused longest comes first. */
  readonly #seats = new Map<string, number>();

  /** When every seat is taken, the one that has been unused longest changes its owner. */
  seatOf(owner: string): number {
    const seat = this.#seats.get(owner) ?? this.#freeSeat(owner);
    this.#seats.delete(owner);
    this.#seats.set(owner, seat);
    return seat;
  }

  #freeSeat(owner: string): number {
    const [longestUnused] = this.#seats;
    if (longestUnused === undefined || this.#seats.size < SEAT_COUNT) return this.#firstFreeFrom(preferredBy(owner));
    const [loser, seat] = longestUnused;
    this.#seats.delete(loser);
    return seat;
  }

  #firstFreeFrom(preferred: number): number {
    const taken = new Set(this.#seats.values());
    let seat = preferred;
    while (taken.has(seat)) seat = (seat + 1) % SEAT_COUNT;
    return seat;
  }
}

/** A store that has forgotten everything gives most owners the seats that they had. */
function preferredBy(owner: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < owner.length; at += 1) hash = Math.imul(hash ^ owner.charCodeAt(at), 0x01000193) >>> 0;
  return hash % SEAT_COUNT;
}
