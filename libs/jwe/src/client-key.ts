import type { webcrypto } from 'node:crypto';
import type { ClientKeys } from './client-keys.js';
import { type PublicJwk, thumbprintOf } from './public-jwk.js';

/** What a private key can do. No handle is extractable, so the scalar cannot come back out. */
interface ClientKeyHandles {
  /** Whoever makes shared secrets with it: opens what was sealed to the public half. */
  readonly custody: ClientKeys;
  /** ECDH on P-384, where this process has the key: opens without a question to anybody. */
  readonly agreement?: webcrypto.CryptoKey;
  /** HKDF: the root of the keys that seal records at rest. */
  readonly atRest: webcrypto.CryptoKey;
  /** The root under which a token with this same key seals: a move of the key into one leaves no record behind. */
  readonly atRestOfToken?: () => Promise<webcrypto.CryptoKey>;
}

let read: (key: ClientKey) => ClientKeyHandles;

/**
 * A checked private key of a merchant. Printing, inspecting or serialising it shows the public half and no more. Made by
 * `importClientKey` and `clientKeyInCustody`.
 */
export class ClientKey {
  readonly publicJwk: PublicJwk;
  readonly thumbprint: string;
  readonly #handles: ClientKeyHandles;

  constructor(publicJwk: PublicJwk, handles: ClientKeyHandles) {
    this.publicJwk = Object.freeze({ ...publicJwk });
    this.thumbprint = thumbprintOf(publicJwk);
    this.#handles = handles;
  }

  /** False for a key in a token: this process does not have it, and asks for each opening. */
  get isHere(): boolean {
    return this.#handles.agreement !== undefined;
  }

  /**
   * Proves that it can open something now.
   * @throws BrokerError `client_key_unavailable`
   */
  async assertUsable(): Promise<void> {
    if (!this.isHere) (await this.#handles.custody.deriveSharedSecret(this.publicJwk)).fill(0);
  }

  static {
    read = (key) => key.#handles;
  }
}

/** For this lib alone: the handles that opening and sealing at rest use. */
export const clientHandlesOf = (key: ClientKey): ClientKeyHandles => read(key);
