import type { webcrypto } from 'node:crypto';
import { CURVE, KEY_TYPE } from './profile.js';
import type { PublicJwk } from './public-jwk.js';

/** About as many as there are seals in flight: more would cost memory, and fewer would make seals wait. */
const KEYS_AHEAD = 8;

/** For one seal: the private half, and the public half as it appears in the header. */
interface EphemeralKey {
  readonly privateKey: webcrypto.CryptoKey;
  readonly epk: PublicJwk;
}

/**
 * Ephemeral keys, generated a few ahead of need: a seal then waits for one elliptic-curve operation instead of two, and
 * under load the runtime's threads stay busy between the steps of a seal. Each key is handed out once, and none
 * outlives the process.
 */
export class EphemeralKeys {
  readonly #ready: EphemeralKey[] = [];
  #underway = 0;

  /** A key that is handed out to nobody else, before or after. */
  async take(): Promise<EphemeralKey> {
    const key = this.#ready.pop();
    this.#refill();
    return key ?? generate();
  }

  #refill(): void {
    while (this.#ready.length + this.#underway < KEYS_AHEAD) {
      this.#underway += 1;
      generate()
        .then((key) => this.#ready.push(key))
        // Nobody waits for this one. A seal that finds no key ready makes its own, and reports any failure then.
        .catch(() => undefined)
        .finally(() => (this.#underway -= 1));
    }
  }
}

async function generate(): Promise<EphemeralKey> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: CURVE }, false, ['deriveBits']);
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  return { privateKey: pair.privateKey, epk: { kty: KEY_TYPE, crv: CURVE, x, y } };
}
