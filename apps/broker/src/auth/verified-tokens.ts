import { LRUCache } from 'lru-cache';
import type { Clock } from '#libs/clock';
import type { Caller } from './caller.js';
import type { KeySet } from './key-set.js';

/** A service has one token, or a few during a rotation: if there are more than this, someone is trying tokens out. */
const MAX_TOKENS = 10_000;

/** The result of checking a token. */
export interface VerifiedToken {
  readonly caller: Caller;
  /** The key that signed it, as the issuer's set knows it. */
  readonly key: string;
}

interface VerifiedTokensParts {
  readonly clock: Clock;
  readonly keys: Pick<KeySet, 'has'>;
  /** Tokens checked under the same terms against other keys; each is still checked against the current ones. */
  readonly before?: VerifiedTokens | undefined;
  readonly max?: number;
}

/**
 * Tokens whose signature has been checked, by digest, until they expire or their key leaves the issuer's set. The set
 * is asked every time: a check that ends after the key has left adds nothing that would be found. Bounded: the least
 * recently used go first.
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
    // By the clock that everything else uses: the cache's own time-to-live would use a different one.
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
