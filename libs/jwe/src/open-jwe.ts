import { BrokerError } from '#libs/errors';
import { type ClientKey, clientHandlesOf } from './client-key.js';
import { readCompactJwe } from './compact-jwe.js';
import { openAgreed } from './open-agreed.js';
import { DEFAULT_MAX_JWE_BYTES } from './profile.js';
import { isOnCurve, type PublicJwk } from './public-jwk.js';

interface OpenOptions {
  /** The longest compact JWE to accept. */
  readonly maxBytes?: number;
}

export interface OpenedJwe {
  readonly plaintext: Uint8Array;
  /** RFC 7638 thumbprint of the key that opened it, which shows which keys are still in use. */
  readonly thumbprint: string;
}

/**
 * Opens a compact JWE of the profile with the first of `keys` that fits; give them newest first.
 * @throws BrokerError `jwe_too_large`, `jwe_malformed`, `jwe_algorithm_refused` for faults that show without a key,
 * otherwise `jwe_not_opened`: every cryptographic failure is the same failure (RFC 7516 section 11.5);
 * `client_key_unavailable` when a key is kept elsewhere and cannot be asked
 */
export async function openJwe(
  jwe: string,
  keys: readonly ClientKey[],
  { maxBytes = DEFAULT_MAX_JWE_BYTES }: OpenOptions = {},
): Promise<OpenedJwe> {
  const checked = readCompactJwe(jwe, maxBytes);
  // The keys that this process has come first, because nobody has to be asked.
  for (const key of [...keys.filter(({ isHere }) => isHere), ...keys.filter(({ isHere }) => !isHere)]) {
    const secret = await secretOf(key, checked.epk);
    const plaintext = secret === undefined ? undefined : openAgreed(checked, secret);
    if (plaintext !== undefined) return { plaintext, thumbprint: key.thumbprint };
  }
  throw new BrokerError('jwe_not_opened', { publicDetail: 'it is damaged, or sealed to another key' });
}

/** A bad point must look like a bad wrap or tag from outside, and is not logged. */
async function secretOf(key: ClientKey, epk: PublicJwk): Promise<Uint8Array | undefined> {
  const { custody } = clientHandlesOf(key);
  if (key.isHere) return custody.deriveSharedSecret(epk).catch(() => undefined);
  // A point that is not on the curve is never passed to a custody elsewhere (RFC 8725 section 3.4).
  return isOnCurve(epk) ? custody.deriveSharedSecret(epk) : undefined;
}
