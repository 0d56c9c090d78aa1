import type { webcrypto } from 'node:crypto';
import { type PublicJwk, thumbprintOf } from './public-jwk.js';

let read: (key: RecipientKey) => webcrypto.CryptoKey;

/** A checked and imported public key that a JWE can be sealed to. Made by `importServerKey` or `importPaymentKey`. */
export class RecipientKey {
  readonly jwk: PublicJwk;
  readonly thumbprint: string;
  readonly #agreement: webcrypto.CryptoKey;

  constructor(jwk: PublicJwk, agreement: webcrypto.CryptoKey) {
    this.jwk = Object.freeze({ ...jwk });
    this.thumbprint = thumbprintOf(jwk);
    this.#agreement = agreement;
  }

  static {
    read = (key) => key.#agreement;
  }
}

/** For this lib only: the handle for sealing. */
export const recipientHandleOf = (key: RecipientKey): webcrypto.CryptoKey => read(key);
