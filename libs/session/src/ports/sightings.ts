/** Something that may come more than once, and should be known again by whichever replica it comes to. */
export interface Sighting {
  readonly merchant: string;
  /**
   * What it is known by: one name, or several that all stand for it, each 16 to 64 letters, digits, `-` and `_`. They say
   * nothing of what they stand for.
   */
  readonly names: readonly string[];
  /** For how long it is remembered, from the first time on. */
  readonly forMs: number;
}

/**
 * What all replicas have seen, beside the sessions: nothing depends on it, and it may forget. It fails as the store does:
 * BrokerError `store_refused` or `store_unavailable`, and an unanswered question may have been noted.
 */
export interface Sightings {
  /** Whether nobody has asked for any of the names before; of several who ask at once, one is told so. */
  firstSeen(sighting: Sighting): Promise<boolean>;
}
