import type { webcrypto } from 'node:crypto';
import { BrokerError } from '#libs/errors';
import { type ClientKey, clientHandlesOf } from './client-key.js';
import { checkCompactJwe } from './compact-jwe.js';
import { type OpenedWith, openWithHandles } from './open-with-handles.js';
import { DEFAULT_MAX_JWE_BYTES } from './profile.js';

interface OpenOptions {
  /** The longest compact JWE to look at. */
  readonly maxBytes?: number;
}

export interface OpenedJwe {
  readonly plaintext: Uint8Array;
  /** RFC 7638 thumbprint of the key that opened it: which keys are still in use shows here. */
  readonly thumbprint: string;
}

/** Where the cryptography of an opening is done. */
type OpenWith = (jwe: string, handles: readonly webcrypto.CryptoKey[]) => Promise<OpenedWith | undefined>;

/**
 * Opens a compact JWE of the profile with the first of `keys` that fits; give them newest first.
 * @throws BrokerError `jwe_too_large`, `jwe_malformed`, `jwe_algorithm_refused` for what shows without a key, else
 *   `jwe_not_opened`: every cryptographic failure is the same failure (RFC 7516 section 11.5)
 */
export const openJwe = openingBy(openWithHandles);

/** An `openJwe` whose cryptography is done elsewhere: what shows without a key is refused here all the same. */
export function openingBy(openWith: OpenWith) {
  return async (jwe: string, keys: readonly ClientKey[], options: OpenOptions = {}): Promise<OpenedJwe> => {
    checkCompactJwe(jwe, options.maxBytes ?? DEFAULT_MAX_JWE_BYTES);
    const opened = await openWith(
      jwe,
      keys.map((key) => clientHandlesOf(key).agreement),
    );
    const key = opened === undefined ? undefined : keys[opened.index];
    if (opened === undefined || key === undefined) {
      throw new BrokerError('jwe_not_opened', { publicDetail: 'it is damaged, or sealed to another key' });
    }
    return { plaintext: opened.plaintext, thumbprint: key.thumbprint };
  };
}
