import type { HeldSessions } from './held-sessions.js';

/**
 * Merchants of which two sessions were made and nobody can tell which was created last: one more renewal, newer than
 * both, settles it. Kept until there is one.
 */
export class Settlements {
  readonly #held: HeldSessions;
  readonly #newerThan = new Map<string, number>();

  constructor(held: HeldSessions) {
    this.#held = held;
  }

  note(merchant: string, generation: number): void {
    this.#newerThan.set(merchant, Math.max(generation, this.#newerThan.get(merchant) ?? 0));
  }

  forget(merchant: string): void {
    this.#newerThan.delete(merchant);
  }

  /** Those that are not settled yet, each with the generation that has to be exceeded. */
  open(): readonly (readonly [merchant: string, newerThan: number])[] {
    for (const [merchant, generation] of this.#newerThan) {
      if (this.#held.generationOf(merchant) > generation) this.#newerThan.delete(merchant);
    }
    return [...this.#newerThan];
  }
}
