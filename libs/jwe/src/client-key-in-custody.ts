import { createECDH, createHash, ECDH, hkdfSync, timingSafeEqual, type webcrypto } from 'node:crypto';
import { ClientKey } from './client-key.js';
import type { ClientKeys } from './client-keys.js';
import { refuseJwk } from './jwk-rules.js';
import { COORDINATE_BYTES, NODE_CURVE } from './profile.js';
import { type PublicJwk, pointOf } from './public-jwk.js';

/** The purpose and version of the point and of the root: another scheme uses other labels. */
const POINT_LABEL = 'session-broker/at-rest/point/v1';
const ROOT_LABEL = 'session-broker/at-rest/agreement/v1';
const ROOT_BYTES = 32;
/** Every second try is on the curve on average: this many misses would mean that the hash is broken. */
const MAX_TRIES = 256;

/**
 * A client key whose private half stays where it is. Its custody is asked twice: once for the secret that records at
 * rest are sealed under, and once to prove that it belongs to the public half.
 * @throws BrokerError `jwk_invalid` when it does not, `client_key_unavailable` when it cannot be asked
 */
export async function clientKeyInCustody(publicJwk: PublicJwk, custody: ClientKeys): Promise<ClientKey> {
  await provePair(publicJwk, custody);
  const root = await agreedRoot(publicJwk, custody);
  return new ClientKey(publicJwk, { custody, atRest: () => Promise.resolve(root) });
}

/** The same without asking: nothing shows yet that the custody has the private half. */
export function unprovenClientKey(publicJwk: PublicJwk, custody: ClientKeys): ClientKey {
  return new ClientKey(publicJwk, { custody, atRest: () => agreedRoot(publicJwk, custody) });
}

/**
 * The root of the keys at rest that needs no scalar: the key's own agreement with a point whose logarithm nobody knows.
 * It is the same wherever the key is kept, in a file or in a token.
 */
export async function agreedRoot(publicJwk: PublicJwk, custody: ClientKeys): Promise<webcrypto.CryptoKey> {
  const secret = await custody.deriveSharedSecret(pointWithoutLogarithm(publicJwk));
  const root = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), ROOT_LABEL, ROOT_BYTES));
  try {
    return await crypto.subtle.importKey('raw', root, 'HKDF', false, ['deriveKey']);
  } finally {
    secret.fill(0);
    root.fill(0);
  }
}

/** Hashes until the result is an x coordinate of the curve. Its logarithm could only be found by solving for it. */
function pointWithoutLogarithm(publicJwk: PublicJwk): PublicJwk {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const x = createHash('sha384').update(POINT_LABEL).update(Buffer.of(0, tries)).update(pointOf(publicJwk)).digest();
    const point = decompressed(Buffer.concat([Buffer.of(2), x]));
    if (point !== undefined) {
      const [first, second] = [point.subarray(1, 1 + COORDINATE_BYTES), point.subarray(1 + COORDINATE_BYTES)];
      return { kty: 'EC', crv: 'P-384', x: first.toString('base64url'), y: second.toString('base64url') };
    }
  }
  throw new TypeError('no point of the curve was met');
}

function decompressed(compressed: Buffer): Buffer | undefined {
  try {
    return ECDH.convertKey(compressed, NODE_CURVE, undefined, undefined, 'uncompressed') as Buffer;
  } catch {
    // No point of the curve has this x coordinate.
    return undefined;
  }
}

/** An ephemeral key with the public half gives the same agreement as the private half with the ephemeral key. */
async function provePair(publicJwk: PublicJwk, custody: ClientKeys): Promise<void> {
  const ephemeral = createECDH(NODE_CURVE);
  const point = ephemeral.generateKeys();
  const peer = {
    x: point.subarray(1, 1 + COORDINATE_BYTES).toString('base64url'),
    y: point.subarray(1 + COORDINATE_BYTES).toString('base64url'),
  };
  const expected = ephemeral.computeSecret(pointOf(publicJwk));
  const given = await custody.deriveSharedSecret({ kty: 'EC', crv: 'P-384', ...peer });
  const isPair = given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
  given.fill(0);
  expected.fill(0);
  if (!isPair) throw refuseJwk('the private key that is kept elsewhere does not belong to "x" and "y"');
}
