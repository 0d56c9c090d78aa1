import { LRUCache } from 'lru-cache';
import type { Clock } from '#libs/clock';
import type { Caller } from './caller.js';
import type { KeySet } from './key-set.js';

/**
 * A service has one token, or a few while one is being replaced: more than this are not in use, somebody is trying
 * them.
 */
const MAX_TOKENS = 10_000;

/** What a check of a token found. */
export interface VerifiedToken {
  readonly caller: Caller;
  /** The key that signed it, as the issuer's set knows it. */
  readonly key: string;
}

interface VerifiedTokensParts {
  readonly clock: Clock;
  readonly keys: Pick<KeySet, 'has'>;
  /** What was checked by the same terms against other keys; each token is still held against the present ones. */
  readonly before?: VerifiedTokens | undefined;
  readonly max?: number;
}

/**
 * Tokens whose signature was checked, by their digest, until they expire or their key leaves the issuer's set. The set
 * is asked each time: a check that ends after the key has left adds nothing that would be found. Bounded: the least used
 * go first.
 */
export class VerifiedTokens {
  readonly #clock: Clock;
  readonly #keys: Pick<KeySet, 'has'>;
  readonly #tokens: LRUCache<string, VerifiedToken>;

  constructor({ clock, keys, before, max = MAX_TOKENS }: VerifiedTokensParts) {
    this.#clock = clock;
    this.#keys = keys;
    this.#tokens = before === undefined ? new LRUCache({ max }) : before.#tokens;
  }

  find(digest: string): Caller | undefined {
    const token = this.#tokens.get(digest);
    if (token === undefined) return undefined;
    const { caller, key } = token;
    // By the clock that everything else uses: the cache would measure a time to live with another one.
    const isGood = caller.validUntil !== undefined && caller.validUntil > this.#clock.now();
    if (isGood && this.#keys.has(key)) return caller;
    this.#tokens.delete(digest);
    return undefined;
  }

  remember(digest: string, token: VerifiedToken): void {
    this.#tokens.set(digest, token);
  }

  get size(): number {
    return this.#tokens.size;
  }
}
