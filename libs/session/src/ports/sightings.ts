/** Something that may arrive more than once, and should be recognized by whichever replica it reaches. */
export interface Sighting {
  readonly merchant: string;
  /**
   * What it is recognized by: one name, or several that all stand for it, each 16 to 64 letters, digits, `-` and `_`.
   * They reveal nothing about what they stand for.
   */
  readonly names: readonly string[];
  /** How long it is remembered, from the first time on. */
  readonly forMs: number;
}

/**
 * What all replicas have seen, kept next to the sessions: nothing depends on it, and it may be forgotten. It fails as
 * the store does: BrokerError `store_refused` or `store_unavailable`, and an unanswered question may have been noted.
 */
export interface Sightings {
  /** Whether nobody has asked for any of the names before; of several who ask at once, only one is told so. */
  firstSeen(sighting: Sighting): Promise<boolean>;
}
