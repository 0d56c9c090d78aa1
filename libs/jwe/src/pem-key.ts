import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { refuseJwk } from './jwk-rules.js';
import { CURVE, KEY_MANAGEMENT, KEY_TYPE, KEY_USE, NODE_CURVE } from './profile.js';

const BEGIN = /-----BEGIN (?:[A-Z]+ )*(PRIVATE|PUBLIC) KEY-----/;

/** Which half of a key a text in PEM holds (PKCS#8, SEC1 or SubjectPublicKeyInfo); undefined when it holds none. */
export function pemKindOf(text: string): 'private' | 'public' | undefined {
  const half = BEGIN.exec(text)?.[1];
  if (half === undefined) return undefined;
  return half === 'PRIVATE' ? 'private' : 'public';
}

/**
 * The key of a PEM text as a JWK, in the form of the interface description, "Client key".
 * @throws BrokerError `jwk_invalid` for one with a passphrase, of another curve or kind, or that cannot be read
 */
export function jwkOfPem(pem: string): Record<string, string> {
  const key = keyIn(pem);
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== NODE_CURVE) {
    throw refuseJwk('the key is not an EC key on P-384; the bank takes no other');
  }
  const { x = '', y = '', d } = key.export({ format: 'jwk' });
  const jwk = { kty: KEY_TYPE, crv: CURVE, use: KEY_USE, alg: KEY_MANAGEMENT, x, y };
  return d === undefined ? jwk : { ...jwk, d };
}

function keyIn(pem: string): KeyObject {
  try {
    return pemKindOf(pem) === 'private' ? createPrivateKey(pem) : createPublicKey(pem);
  } catch {
    // OpenSSL's own message is dropped on purpose: it may quote the key.
    throw refuseJwk(/ENCRYPTED/.test(pem) ? WITH_PASSPHRASE : UNREADABLE);
  }
}

const WITH_PASSPHRASE = 'the key has a passphrase; take it away first: openssl pkey -in <file> -out <new file>';
const UNREADABLE = 'the text is not a key in PEM (PKCS#8, SEC1 or SubjectPublicKeyInfo)';
