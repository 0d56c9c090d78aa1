import type { webcrypto } from 'node:crypto';
import { BrokerError } from '#libs/errors';
import { type ClientKey, clientHandlesOf } from './client-key.js';
import { checkCompactJwe } from './compact-jwe.js';
import { openInCustody } from './open-in-custody.js';
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
 *   `jwe_not_opened`: every cryptographic failure is the same failure (RFC 7516 section 11.5);
 *   `client_key_unavailable` when a key is kept elsewhere and cannot be asked
 */
export const openJwe = openingBy(openWithHandles);

/** An `openJwe` whose cryptography is done elsewhere: what shows without a key is refused here all the same. */
export function openingBy(openWith: OpenWith) {
  return async (jwe: string, keys: readonly ClientKey[], options: OpenOptions = {}): Promise<OpenedJwe> => {
    checkCompactJwe(jwe, options.maxBytes ?? DEFAULT_MAX_JWE_BYTES);
    const opened = (await openHere(jwe, keys, openWith)) ?? (await openElsewhere(jwe, keys));
    if (opened !== undefined) return opened;
    throw new BrokerError('jwe_not_opened', { publicDetail: 'it is damaged, or sealed to another key' });
  };
}

/** With the keys that this process has: they come first, because nobody has to be asked. */
async function openHere(jwe: string, keys: readonly ClientKey[], openWith: OpenWith): Promise<OpenedJwe | undefined> {
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

async function openElsewhere(jwe: string, keys: readonly ClientKey[]): Promise<OpenedJwe | undefined> {
  for (const key of keys.filter(({ isHere }) => !isHere)) {
    const plaintext = await openInCustody(jwe, clientHandlesOf(key).custody);
    if (plaintext !== undefined) return { plaintext, thumbprint: key.thumbprint };
  }
  return undefined;
}
