import type { Clock } from '#libs/clock';
import type { Caller } from './caller.js';

/** A service has one token, or a few while one is replaced: more than this are not used but tried. */
const MOST = 10_000;

/** Tokens whose signature was checked, by their digest, until they expire. Bounded: the least used go first. */
export class VerifiedTokens {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #callers = new Map<string, Caller>();

  constructor(clock: Clock, most = MOST) {
    this.#clock = clock;
    this.#most = most;
  }

  find(digest: string): Caller | undefined {
    const caller = this.#callers.get(digest);
    if (caller === undefined) return undefined;
    this.#callers.delete(digest);
    if (caller.validUntil === undefined || caller.validUntil <= this.#clock.now()) return undefined;
    // A map keeps the order of insertion: what is used moves to its end.
    this.#callers.set(digest, caller);
    return caller;
  }

  remember(digest: string, caller: Caller): void {
    this.#callers.set(digest, caller);
    if (this.#callers.size <= this.#most) return;
    const [leastUsed] = this.#callers.keys();
    if (leastUsed !== undefined) this.#callers.delete(leastUsed);
  }

  /** The issuer has other keys now: what the old ones signed has to be checked again. */
  forgetAll(): void {
    this.#callers.clear();
  }

  get size(): number {
    return this.#callers.size;
  }
}
