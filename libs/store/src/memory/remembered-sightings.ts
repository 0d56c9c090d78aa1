import type { Sighting } from '#libs/session';

/** Memory must not grow with what is sent to the broker: above this number, the oldest is forgotten. */
export const MAX_SIGHTINGS = 65_536;

/** What was seen, for all merchants, until its time is over. */
export class RememberedSightings {
  /** In the order in which they were seen: when each one expires. */
  readonly #endsAtMs = new Map<string, number>();

  firstSeen({ merchant, names, forMs }: Sighting, nowMs: number): boolean {
    const keys = names.map((name) => `${name} ${merchant}`);
    const isKnown = keys.some((key) => (this.#endsAtMs.get(key) ?? -Infinity) > nowMs);
    for (const key of keys) {
      if ((this.#endsAtMs.get(key) ?? -Infinity) > nowMs) continue;
      this.#endsAtMs.delete(key);
      this.#endsAtMs.set(key, nowMs + forMs);
    }
    this.#forget(nowMs);
    return !isKnown;
  }

  #forget(nowMs: number): void {
    for (const [key, endsAtMs] of this.#endsAtMs) {
      if (endsAtMs > nowMs && this.#endsAtMs.size <= MAX_SIGHTINGS) return;
      this.#endsAtMs.delete(key);
    }
  }
}
