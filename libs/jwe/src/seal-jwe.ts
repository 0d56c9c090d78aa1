import { BrokerError } from '#libs/errors';
import { AgreementsAhead } from './agreements-ahead.js';
import { DEFAULT_MAX_PLAINTEXT_BYTES } from './profile.js';
import { type RecipientKey, recipientHandleOf } from './recipient-key.js';
import { sealAgreed } from './seal-agreed.js';

interface SealOptions {
  /** The longest plaintext to seal, in bytes. */
  readonly maxBytes?: number;
}

const agreements = new AgreementsAhead();

/**
 * Seals bytes to a recipient as a compact JWE with the protected header {alg, enc, epk}.
 * @throws BrokerError `jwe_too_large` when the plaintext is longer than allowed
 */
export async function sealJwe(
  plaintext: Uint8Array,
  recipient: RecipientKey,
  { maxBytes = DEFAULT_MAX_PLAINTEXT_BYTES }: SealOptions = {},
): Promise<string> {
  if (plaintext.byteLength > maxBytes) {
    throw new BrokerError('jwe_too_large', { publicDetail: `a plaintext of at most ${maxBytes} bytes is sealed` });
  }
  return sealAgreed(plaintext, await agreements.take(recipientHandleOf(recipient)));
}

/**
 * Makes the agreement of a later seal to this recipient, so that nobody waits for it then; to be called when whoever was
 * sealed for has its answer, since the operations take the processor from what is under way. Never rejects.
 */
export function prepareSeal(recipient: RecipientKey): Promise<void> {
  return agreements.prepare(recipientHandleOf(recipient));
}
