import type { webcrypto } from 'node:crypto';
import { BrokerError } from '#libs/errors';
import { type ClientKey, clientHandlesOf } from './client-key.js';
import { type CheckedJwe, readCompactJwe } from './compact-jwe.js';
import { openAgreed } from './open-agreed.js';
import { type OpenedWith, openWithHandles } from './open-with-handles.js';
import { DEFAULT_MAX_JWE_BYTES } from './profile.js';
import { isOnCurve } from './public-jwk.js';

interface OpenOptions {
  /** The longest compact JWE to accept. */
  readonly maxBytes?: number;
}

export interface OpenedJwe {
  readonly plaintext: Uint8Array;
  /** RFC 7638 thumbprint of the key that opened it, which shows which keys are still in use. */
  readonly thumbprint: string;
}

/** Where the cryptography of an opening is done. */
type OpenWith = (jwe: CheckedJwe, handles: readonly webcrypto.CryptoKey[]) => Promise<OpenedWith | undefined>;

/**
 * Opens a compact JWE of the profile with the first of `keys` that fits; give them newest first.
 * @throws BrokerError `jwe_too_large`, `jwe_malformed`, `jwe_algorithm_refused` for faults that show without a key,
 * otherwise `jwe_not_opened`: every cryptographic failure is the same failure (RFC 7516 section 11.5);
 * `client_key_unavailable` when a key is kept elsewhere and cannot be asked
 */
export const openJwe = openingBy(openWithHandles);

/** An `openJwe` whose cryptography is done elsewhere: faults that show without a key are still refused here. */
export function openingBy(openWith: OpenWith) {
  return async (jwe: string, keys: readonly ClientKey[], options: OpenOptions = {}): Promise<OpenedJwe> => {
    const checked = readCompactJwe(jwe, options.maxBytes ?? DEFAULT_MAX_JWE_BYTES);
    const opened = (await openHere(checked, keys, openWith)) ?? (await openElsewhere(checked, keys));
    if (opened !== undefined) return opened;
    throw new BrokerError('jwe_not_opened', { publicDetail: 'it is damaged, or sealed to another key' });
  };
}

/** With the keys that this process has: they come first, because nobody has to be asked. */
async function openHere(
  jwe: CheckedJwe,
  keys: readonly ClientKey[],
  openWith: OpenWith,
): Promise<OpenedJwe | undefined> {
  const here = keys.flatMap((key) => {
    const { agreement } = clientHandlesOf(key);
    return agreement === undefined ? [] : [{ agreement, thumbprint: key.thumbprint }];
  });
  if (here.length === 0 && keys.length > 0) return undefined;
  const opened = await openWith(
    jwe,
    here.map(({ agreement }) => agreement),
  );
  const thumbprint = opened === undefined ? undefined : here[opened.index]?.thumbprint;
  return opened === undefined || thumbprint === undefined ? undefined : { plaintext: opened.plaintext, thumbprint };
}

/** A point that is not on the curve is never passed to a custody (RFC 8725 section 3.4). */
async function openElsewhere(jwe: CheckedJwe, keys: readonly ClientKey[]): Promise<OpenedJwe | undefined> {
  const elsewhere = keys.filter(({ isHere }) => !isHere);
  if (elsewhere.length === 0 || !isOnCurve(jwe.epk)) return undefined;
  for (const key of elsewhere) {
    const secret = await clientHandlesOf(key).custody.deriveSharedSecret(jwe.epk);
    const plaintext = openAgreed(jwe, secret);
    if (plaintext !== undefined) return { plaintext, thumbprint: key.thumbprint };
  }
  return undefined;
}
