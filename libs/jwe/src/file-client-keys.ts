import type { webcrypto } from 'node:crypto';
import type { ClientKeys } from './client-keys.js';
import { COORDINATE_BYTES, CURVE } from './profile.js';
import type { PublicJwk } from './public-jwk.js';

const ECDH = { name: 'ECDH', namedCurve: CURVE } as const;

/** Custody of a key that came from a file: a handle of the runtime that is not extractable. */
export class FileClientKeys implements ClientKeys {
  readonly #agreement: webcrypto.CryptoKey;

  constructor(agreement: webcrypto.CryptoKey) {
    this.#agreement = agreement;
  }

  async deriveSharedSecret({ kty, crv, x, y }: PublicJwk): Promise<Uint8Array> {
    const peer = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDH, false, []);
    const bits = await crypto.subtle.deriveBits({ name: 'ECDH', public: peer }, this.#agreement, COORDINATE_BYTES * 8);
    return new Uint8Array(bits);
  }
}
