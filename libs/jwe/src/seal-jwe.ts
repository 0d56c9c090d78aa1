import { BrokerError } from '#libs/errors';
import { CompactEncrypt } from 'jose';
import { EphemeralKeys } from './ephemeral-keys.js';
import { CONTENT_ENCRYPTION, DEFAULT_MAX_PLAINTEXT_BYTES, KEY_MANAGEMENT } from './profile.js';
import { type RecipientKey, recipientHandleOf } from './recipient-key.js';

export interface SealOptions {
  /** The longest plaintext to seal, in bytes. */
  readonly maxBytes?: number;
}

const ephemeralKeys = new EphemeralKeys();

/**
 * Seals bytes to a recipient as a compact JWE with the protected header {alg, enc, epk}.
 * @throws BrokerError `jwe_too_large` when the plaintext is longer than allowed
 */
export async function sealJwe(
  plaintext: Uint8Array,
  recipient: RecipientKey,
  options: SealOptions = {},
): Promise<string> {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_PLAINTEXT_BYTES;
  if (plaintext.byteLength > maxBytes) {
    throw new BrokerError('jwe_too_large', { publicDetail: `a plaintext of at most ${maxBytes} bytes is sealed` });
  }
  return new CompactEncrypt(plaintext)
    .setProtectedHeader({ alg: KEY_MANAGEMENT, enc: CONTENT_ENCRYPTION })
    .setKeyManagementParameters({ epk: await ephemeralKeys.take() })
    .encrypt(recipientHandleOf(recipient));
}
