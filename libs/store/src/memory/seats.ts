/** Generations that are made alone are kept apart by this many residue classes. */
export const SEAT_COUNT = 1_024;

/** The seats of the replicas: one each, the same for as long as it is remembered. */
export class Seats {
  /** In the order of their last use: the longest unused owner is first. */
  readonly #seats = new Map<string, number>();

  /** When every seat is taken, the longest unused one changes its owner. */
  seatOf(owner: string): number {
    const seat = this.#seats.get(owner) ?? this.#freeSeat();
    this.#seats.delete(owner);
    this.#seats.set(owner, seat);
    return seat;
  }

  #freeSeat(): number {
    const [longestUnused] = this.#seats;
    if (longestUnused === undefined || this.#seats.size < SEAT_COUNT) return this.#seats.size;
    const [owner, seat] = longestUnused;
    this.#seats.delete(owner);
    return seat;
  }
}
