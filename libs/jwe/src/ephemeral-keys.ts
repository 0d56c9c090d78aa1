import type { webcrypto } from 'node:crypto';
import { CURVE, KEY_TYPE } from './profile.js';
import type { PublicJwk } from './public-jwk.js';

/** As many as there are usually seals in flight: more would cost memory, and fewer would be waited for. */
const KEYS_AHEAD = 8;

/** For one seal: the private half, and the public one as the header shows it. */
interface EphemeralKey {
  readonly privateKey: webcrypto.CryptoKey;
  readonly epk: PublicJwk;
}

/**
 * Ephemeral keys, generated a few ahead of need: a seal then waits for one elliptic-curve operation instead
 * of two, and under load the runtime's threads find work while a seal is between its steps. Each key is handed out
 * once, and none outlives the process.
 */
export class EphemeralKeys {
  readonly #ready: EphemeralKey[] = [];
  #underway = 0;

  /** A key that nobody else has had or will have. */
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
        // Nobody waits for this one. The seal that finds no key ready makes its own, and reports what fails then.
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
