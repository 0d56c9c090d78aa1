import { BrokerError } from '#libs/errors';
import { compactDecrypt } from 'jose';
import { type ClientKey, clientHandlesOf } from './client-key.js';
import { checkCompactJwe } from './compact-jwe.js';
import { CONTENT_ENCRYPTION, DEFAULT_MAX_JWE_BYTES, KEY_MANAGEMENT } from './profile.js';

export interface OpenOptions {
  /** The longest compact JWE to look at. */
  readonly maxBytes?: number;
}

export interface OpenedJwe {
  readonly plaintext: Uint8Array;
  /** RFC 7638 thumbprint of the key that opened it: which keys are still in use shows here. */
  readonly thumbprint: string;
}

// Held against the header a second time, by the library: an oversight in our check must not open another algorithm.
const ONLY_OUR_PROFILE = {
  keyManagementAlgorithms: [KEY_MANAGEMENT],
  contentEncryptionAlgorithms: [CONTENT_ENCRYPTION],
  maxDecompressedLength: 0,
};

/**
 * Opens a compact JWE of the profile with the first of `keys` that fits; give them newest first.
 * @throws BrokerError `jwe_too_large`, `jwe_malformed`, `jwe_algorithm_refused` for what shows without a key, else
 *   `jwe_not_opened`: every cryptographic failure is the same failure (RFC 7516 section 11.5)
 */
export async function openJwe(jwe: string, keys: readonly ClientKey[], options: OpenOptions = {}): Promise<OpenedJwe> {
  checkCompactJwe(jwe, options.maxBytes ?? DEFAULT_MAX_JWE_BYTES);
  for (const key of keys) {
    const plaintext = await tryOpen(jwe, key);
    if (plaintext !== undefined) return { plaintext, thumbprint: key.thumbprint };
  }
  throw new BrokerError('jwe_not_opened', { publicDetail: 'it is damaged, or sealed to another key' });
}

async function tryOpen(jwe: string, key: ClientKey): Promise<Uint8Array | undefined> {
  try {
    return (await compactDecrypt(jwe, clientHandlesOf(key).agreement, ONLY_OUR_PROFILE)).plaintext;
  } catch {
    // Whatever went wrong, a bad point, key, wrap or tag, must look the same from outside, and is told to no log.
    return undefined;
  }
}
