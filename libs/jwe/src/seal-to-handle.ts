import type { webcrypto } from 'node:crypto';
import { EphemeralKeys } from './ephemeral-keys.js';
import { COORDINATE_BYTES } from './profile.js';
import { sealAgreed } from './seal-agreed.js';

const ephemeralKeys = new EphemeralKeys();

/** The length of the plaintext has been checked. */
export async function sealToHandle(plaintext: Uint8Array, handle: webcrypto.CryptoKey): Promise<string> {
  const { privateKey, epk } = await ephemeralKeys.take();
  const agreement = { name: 'ECDH', public: handle };
  const secret = new Uint8Array(await crypto.subtle.deriveBits(agreement, privateKey, COORDINATE_BYTES * 8));
  return sealAgreed(plaintext, { epk, secret });
}
