import type { webcrypto } from 'node:crypto';
import { CURVE } from './profile.js';

/** As many as there are usually seals in flight: more would cost memory, and fewer would be waited for. */
const KEYS_AHEAD = 8;

/**
 * Ephemeral private keys, generated a few ahead of need: a seal then waits for one elliptic-curve operation instead
 * of two, and under load the runtime's threads find work while a seal is between its steps. Each key is handed out
 * once, and none outlives the process.
 */
export class EphemeralKeys {
  readonly #ready: webcrypto.CryptoKey[] = [];
  #underway = 0;

  /** A private key that nobody else has had or will have. */
  async take(): Promise<webcrypto.CryptoKey> {
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

async function generate(): Promise<webcrypto.CryptoKey> {
  // Extractable, or the JOSE library could not write the public half into the header.
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: CURVE }, true, ['deriveBits']);
  return privateKey;
}
