import type { Session } from './session.js';

/**
 * Sessions that this replica has made and the store has not taken: no other replica has them. One that the store has
 * lost does not count, since the others have it.
 */
export class UnsharedSessions {
  /** Generations, by merchant. */
  readonly #made = new Map<string, number>();

  /** The gateway has answered. */
  made({ merchant, generation }: Pick<Session, 'merchant' | 'generation'>): void {
    this.#made.set(merchant, generation);
  }

  /** The store has it, or has a newer one. */
  settled({ merchant, generation }: Pick<Session, 'merchant' | 'generation'>): void {
    if ((this.#made.get(merchant) ?? Infinity) <= generation) this.#made.delete(merchant);
  }

  has(merchant: string, generation: number): boolean {
    return this.#made.get(merchant) === generation;
  }

  forget(merchant: string): void {
    this.#made.delete(merchant);
  }
}
