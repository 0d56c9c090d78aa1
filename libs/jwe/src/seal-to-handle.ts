import type { webcrypto } from 'node:crypto';
import { CompactEncrypt } from 'jose';
import { EphemeralKeys } from './ephemeral-keys.js';
import { CONTENT_ENCRYPTION, KEY_MANAGEMENT } from './profile.js';

const ephemeralKeys = new EphemeralKeys();

/** The length of the plaintext has been checked. */
export async function sealToHandle(plaintext: Uint8Array, handle: webcrypto.CryptoKey): Promise<string> {
  return new CompactEncrypt(plaintext)
    .setProtectedHeader({ alg: KEY_MANAGEMENT, enc: CONTENT_ENCRYPTION })
    .setKeyManagementParameters({ epk: await ephemeralKeys.take() })
    .encrypt(handle);
}
