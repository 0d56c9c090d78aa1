import type { webcrypto } from 'node:crypto';
import { type PublicJwk, thumbprintOf } from './public-jwk.js';

/** What a private key can do. Neither handle is extractable, so the scalar cannot come back out. */
interface ClientKeyHandles {
  /** ECDH on P-384: opens what was sealed to the public half. */
  readonly agreement: webcrypto.CryptoKey;
  /** HKDF over the private scalar: the root of the keys that seal records at rest. */
  readonly atRest: webcrypto.CryptoKey;
}

let read: (key: ClientKey) => ClientKeyHandles;

/**
 * A checked and imported private key of a merchant. Printing, inspecting or serialising it shows the public half and
 * no more. Made by `importClientKey`.
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

  static {
    read = (key) => key.#handles;
  }
}

/** For this lib alone: the handles that opening and sealing at rest use. */
export const clientHandlesOf = (key: ClientKey): ClientKeyHandles => read(key);
