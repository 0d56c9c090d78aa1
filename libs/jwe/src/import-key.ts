import { createECDH, type webcrypto } from 'node:crypto';
import type { BrokerError } from '#libs/errors';
import { ClientKey } from './client-key.js';
import { agreedRoot } from './client-key-in-custody.js';
import { FileClientKeys } from './file-client-keys.js';
import { checkJwk, privateKeyRules, publicKeyRules, type RawJwk, refuseJwk } from './jwk-rules.js';
import { CURVE, KEY_TYPE, NODE_CURVE } from './profile.js';
import { isOnCurve, pointOf, type PublicJwk } from './public-jwk.js';
import { RecipientKey } from './recipient-key.js';

const ECDH = { name: 'ECDH', namedCurve: CURVE } as const;
const serverKeys = new WeakMap<object, Promise<RecipientKey>>();

/**
 * Imports a merchant's private key: EC, P-384, `use` absent or `enc`, `alg` absent or `ECDH-ES+A256KW`, `key_ops`
 * absent or deriving, `x` and `y` on the curve, `d` in range and belonging to them (interface description, "Client
 * key").
 * @throws BrokerError `jwk_invalid`, naming the member and the rule, never a value
 */
export async function importClientKey(jwk: unknown): Promise<ClientKey> {
  const checked = checkJwk(jwk, privateKeyRules);
  const publicJwk = publicHalf(checked);
  const scalar = Buffer.from(checked['d'] as string, 'base64url');
  try {
    checkPair(publicJwk, scalar);
    const [agreement, root] = await Promise.all([
      importAgreement({ ...publicJwk, d: checked['d'] as string }, ['deriveBits']),
      crypto.subtle.importKey('raw', scalar, 'HKDF', false, ['deriveKey']),
    ]);
    const custody = new FileClientKeys(agreement);
    const atRestOfToken = (): Promise<webcrypto.CryptoKey> => agreedRoot(publicJwk, custody);
    return new ClientKey(publicJwk, { custody, agreement, atRest: () => Promise.resolve(root), atRestOfToken });
  } finally {
    scalar.fill(0);
  }
}

/**
 * Imports the key that the gateway sends with a session (`serverPublic`). Other members of the JWK are ignored, but
 * `use`, `alg` and `key_ops` must not contradict the purpose and `d` must be absent. Much is sealed to one session: the
 * same object is imported once.
 * @throws BrokerError `jwk_invalid`, naming the member and the rule, never a value
 */
export function importServerKey(jwk: object): Promise<RecipientKey> {
  const key = serverKeys.get(jwk) ?? importRecipient(jwk);
  serverKeys.set(jwk, key);
  return key;
}

/**
 * Checks the key that the gateway sends with a session by the same rules, without importing it: this process never
 * seals to the key of most sessions.
 * @throws BrokerError `jwk_invalid`, naming the member and the rule, never a value
 */
export function checkServerKey(jwk: unknown): PublicJwk {
  const publicJwk = publicHalf(checkJwk(jwk, publicKeyRules));
  if (!isOnCurve(publicJwk)) throw offCurve();
  return publicJwk;
}

/**
 * Imports a public key that a person configured or sent: the bank's payment key, or another recipient.
 * @throws BrokerError `jwk_invalid`, naming the member and the rule, never a value
 */
export function importPaymentKey(jwk: unknown): Promise<RecipientKey> {
  return importRecipient(jwk);
}

async function importRecipient(jwk: unknown): Promise<RecipientKey> {
  const publicJwk = publicHalf(checkJwk(jwk, publicKeyRules));
  return new RecipientKey(publicJwk, await importAgreement(publicJwk, []));
}

function publicHalf(jwk: RawJwk): PublicJwk {
  return { kty: KEY_TYPE, crv: CURVE, x: jwk['x'] as string, y: jwk['y'] as string };
}

/** The import itself refuses a point that is not on the curve (RFC 8725 section 3.4). */
async function importAgreement(
  jwk: PublicJwk & { readonly d?: string },
  usages: webcrypto.KeyUsage[],
): Promise<webcrypto.CryptoKey> {
  try {
    return await crypto.subtle.importKey('jwk', { ...jwk }, ECDH, false, usages);
  } catch {
    // The runtime's own error is dropped on purpose: it may quote members of the key.
    throw offCurve();
  }
}

const offCurve = (): BrokerError => refuseJwk('"x" and "y" are not a point of P-384');

function checkPair(jwk: PublicJwk, scalar: Buffer): void {
  const pair = createECDH(NODE_CURVE);
  try {
    pair.setPrivateKey(scalar);
  } catch {
    throw refuseJwk('"d" is out of range for P-384');
  }
  if (!pair.getPublicKey().equals(pointOf(jwk))) throw refuseJwk('"d" does not belong to "x" and "y"');
}
