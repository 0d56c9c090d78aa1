/** Generations that are made without a lease are kept apart by this many residue classes. */
export const SEAT_COUNT = 1_024;

/** The replicas' seats: one each, the same one for as long as it is remembered. */
export class Seats {
  /** In the order of their last use: the owner that has not used its seat for longest comes first. */
  readonly #seats = new Map<string, number>();

  /** If every seat is taken, the one that has been unused for longest changes its owner. */
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

/** Gives most owners their previous seats again after the store has forgotten everything. */
function preferredBy(owner: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < owner.length; at += 1) hash = Math.imul(hash ^ owner.charCodeAt(at), 0x01000193) >>> 0;
  return hash % SEAT_COUNT;
}
