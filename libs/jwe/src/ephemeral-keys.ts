import type { webcrypto } from 'node:crypto';
import { CURVE } from './profile.js';

/** Enough that a burst of seals keeps both the elliptic-curve work and the short steps after it in progress. */
const KEYS_AHEAD = 8;

/**
 * Ephemeral key pairs, generated a few ahead of need: a seal then costs one elliptic-curve operation of waiting
 * instead of two, and under load the runtime's threads never wait for the next step of a seal. Each is handed out
 * once, and none outlives the process.
 */
export class EphemeralKeys {
  readonly #ahead: Promise<webcrypto.CryptoKey>[] = [];

  /** A private key that nobody else has had or will have. */
  take(): Promise<webcrypto.CryptoKey> {
    while (this.#ahead.length <= KEYS_AHEAD) this.#ahead.push(generate());
    return this.#ahead.shift() ?? generate();
  }
}

function generate(): Promise<webcrypto.CryptoKey> {
  // Extractable, or the JOSE library could not write the public half into the header.
  const pair = crypto.subtle.generateKey({ name: 'ECDH', namedCurve: CURVE }, true, ['deriveBits']);
  const privateKey = pair.then((keys) => keys.privateKey);
  // A failure belongs to the seal that takes the key; until then it must not count as an unhandled rejection.
  privateKey.catch(() => undefined);
  return privateKey;
}
