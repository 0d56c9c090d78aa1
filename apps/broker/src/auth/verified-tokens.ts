import { LRUCache } from 'lru-cache';
import type { Clock } from '#libs/clock';
import type { Caller } from './caller.js';

/**
 * A service has one token, or a few while one is being replaced: more than this are not in use, somebody is trying
 * them.
 */
const MAX_TOKENS = 10_000;

/** Tokens whose signature was checked, by their digest, until they expire. Bounded: the least used go first. */
export class VerifiedTokens {
  readonly #clock: Clock;
  readonly #callers: LRUCache<string, Caller>;

  constructor(clock: Clock, max = MAX_TOKENS) {
    this.#clock = clock;
    this.#callers = new LRUCache({ max });
  }

  find(digest: string): Caller | undefined {
    const caller = this.#callers.get(digest);
    if (caller === undefined) return undefined;
    // By the clock that everything else uses: the cache would measure a time to live with another one.
    if (caller.validUntil !== undefined && caller.validUntil > this.#clock.now()) return caller;
    this.#callers.delete(digest);
    return undefined;
  }

  remember(digest: string, caller: Caller): void {
    this.#callers.set(digest, caller);
  }

  /** The issuer has other keys now: what the old ones signed has to be checked again. */
  forgetAll(): void {
    this.#callers.clear();
  }

  get size(): number {
    return this.#callers.size;
  }
}
