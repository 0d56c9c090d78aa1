import type { webcrypto } from 'node:crypto';
import { BrokerError } from '#libs/errors';
import { DEFAULT_MAX_PLAINTEXT_BYTES } from './profile.js';
import { type RecipientKey, recipientHandleOf } from './recipient-key.js';
import { sealToHandle } from './seal-to-handle.js';

interface SealOptions {
  /** The longest plaintext to seal, in bytes. */
  readonly maxBytes?: number;
}

/** Where the cryptography of a sealing is done. */
type SealTo = (plaintext: Uint8Array, handle: webcrypto.CryptoKey) => Promise<string>;

/**
 * Seals bytes to a recipient as a compact JWE with the protected header {alg, enc, epk}.
 * @throws BrokerError `jwe_too_large` when the plaintext is longer than allowed
 */
export const sealJwe = sealingBy(sealToHandle);

/** A `sealJwe` whose cryptography is done elsewhere. */
export function sealingBy(sealTo: SealTo) {
  return async (plaintext: Uint8Array, recipient: RecipientKey, options: SealOptions = {}): Promise<string> => {
    const maxBytes = options.maxBytes ?? DEFAULT_MAX_PLAINTEXT_BYTES;
    if (plaintext.byteLength > maxBytes) {
      throw new BrokerError('jwe_too_large', { publicDetail: `a plaintext of at most ${maxBytes} bytes is sealed` });
    }
    return sealTo(plaintext, recipientHandleOf(recipient));
  };
}
