import type { webcrypto } from 'node:crypto';
import type { CheckedJwe } from './compact-jwe.js';
import { FileClientKeys } from './file-client-keys.js';
import { openAgreed } from './open-agreed.js';

export interface OpenedWith {
  readonly plaintext: Uint8Array;
  /** Which of the handles opened it. */
  readonly index: number;
}

/** Opens with the first handle that fits; undefined if none does. */
export async function openWithHandles(
  jwe: CheckedJwe,
  handles: readonly webcrypto.CryptoKey[],
): Promise<OpenedWith | undefined> {
  for (const [index, handle] of handles.entries()) {
    const secret = await secretOf(jwe, handle);
    const plaintext = secret === undefined ? undefined : openAgreed(jwe, secret);
    if (plaintext !== undefined) return { plaintext, index };
  }
  return undefined;
}

async function secretOf({ epk }: CheckedJwe, handle: webcrypto.CryptoKey): Promise<Uint8Array | undefined> {
  try {
    return await new FileClientKeys(handle).deriveSharedSecret(epk);
  } catch {
    // A bad point must look like a bad wrap or tag from outside, and is not logged.
    return undefined;
  }
}
