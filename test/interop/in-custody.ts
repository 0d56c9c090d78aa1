import type { webcrypto } from 'node:crypto';
import { type ClientKey, clientKeyInCustody, FileClientKeys, importClientKey } from '#libs/jwe';

/** The key as if it were kept elsewhere: only the key agreement is asked for, and the rest is ours. */
export async function inCustody(privateJwk: Readonly<Record<string, unknown>>): Promise<ClientKey> {
  const { publicJwk } = await importClientKey(privateJwk);
  const jwk = { ...publicJwk, d: privateJwk['d'] } as webcrypto.JsonWebKey;
  const agreement = await crypto.subtle.importKey('jwk', jwk, { name: 'ECDH', namedCurve: 'P-384' }, false, [
    'deriveBits',
  ]);
  return clientKeyInCustody(publicJwk, new FileClientKeys(agreement));
}
