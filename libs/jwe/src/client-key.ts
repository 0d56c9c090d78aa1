import type { webcrypto } from 'node:crypto';
import type { ClientKeys } from './client-keys.js';
import { type PublicJwk, thumbprintOf } from './public-jwk.js';

/** What a private key can do. No handle is extractable, so the scalar cannot come back out. */
interface ClientKeyHandles {
  /** Makes shared secrets with the key, to open what was sealed to the public half. */
  readonly custody: ClientKeys;
  /** ECDH on P-384, if this process has the key: opens without asking anyone. */
  readonly agreement?: webcrypto.CryptoKey;
  /** HKDF: the root of the keys that seal records at rest. */
  readonly atRest: () => Promise<webcrypto.CryptoKey>;
  /** The root that a token with the same key seals under: moving the key into a token leaves no record behind. */
  readonly atRestOfToken?: () => Promise<webcrypto.CryptoKey>;
}

let read: (key: ClientKey) => ClientKeyHandles;

/**
 * A merchant's checked private key. Printing, inspecting or serialising it shows only the public half. Made by
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

  /** False for a key in a token: this process does not have it, and has to ask for each opening. */
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

/** For this lib only: the handles for opening and for sealing at rest. */
export const clientHandlesOf = (key: ClientKey): ClientKeyHandles => read(key);
