import type { webcrypto } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { CONTENT_ENCRYPTION, KEY_MANAGEMENT } from './profile.js';

// The library checks the header a second time: an oversight in our own check must not let in another algorithm.
const ONLY_OUR_PROFILE = {
  keyManagementAlgorithms: [KEY_MANAGEMENT],
  contentEncryptionAlgorithms: [CONTENT_ENCRYPTION],
  maxDecompressedLength: 0,
};

export interface OpenedWith {
  readonly plaintext: Uint8Array;
  /** Which of the handles opened it. */
  readonly index: number;
}

/** With the first handle that fits, or undefined. The JWE has been checked for everything that shows without a key. */
export async function openWithHandles(
  jwe: string,
  handles: readonly webcrypto.CryptoKey[],
): Promise<OpenedWith | undefined> {
  for (const [index, handle] of handles.entries()) {
    const plaintext = await tryOpen(jwe, handle);
    if (plaintext !== undefined) return { plaintext, index };
  }
  return undefined;
}

async function tryOpen(jwe: string, handle: webcrypto.CryptoKey): Promise<Uint8Array | undefined> {
  try {
    return (await compactDecrypt(jwe, handle, ONLY_OUR_PROFILE)).plaintext;
  } catch {
    // Whatever went wrong, a bad point, key, wrap or tag, must look the same from outside, and is told to no log.
    return undefined;
  }
}
