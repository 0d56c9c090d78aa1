import { timingSafeEqual } from 'node:crypto';
import type { BrokerConfiguration } from '#libs/configuration';
import type { Caller } from './caller.js';

interface KnownToken {
  readonly digest: Buffer;
  readonly caller: Caller;
}

/**
 * The tokens in the configuration, which holds only their SHA-256. A token is looked up by its digest, which an
 * attacker cannot steer byte by byte, and compared in constant time.
 */
export class StaticTokens {
  readonly #tokens: ReadonlyMap<string, KnownToken>;

  constructor(tokens: BrokerConfiguration['auth']['tokens']) {
    this.#tokens = new Map(
      tokens.map(({ caller, sha256 }) => [sha256, { digest: Buffer.from(sha256, 'hex'), caller: { name: caller } }]),
    );
  }

  /** @param digest SHA-256 of a token, lower-case hexadecimal */
  find(digest: string): Caller | undefined {
    const known = this.#tokens.get(digest);
    return known !== undefined && timingSafeEqual(known.digest, Buffer.from(digest, 'hex')) ? known.caller : undefined;
  }
}
