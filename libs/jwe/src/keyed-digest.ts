import { createECDH } from 'node:crypto';
import { type ClientKey, clientHandlesOf } from './client-key.js';
import { importClientKey } from './import-key.js';
import { COORDINATE_BYTES, CURVE, KEY_TYPE, NODE_CURVE } from './profile.js';

/** How many points P-384 has (SP 800-186, section 3.2.1.4). */
const ORDER = 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n;

/** The purpose and version of the derivation, distinct from that of records at rest. */
const LABEL = 'session-broker/digest/v1';

/**
 * HMAC-SHA-256 of the parts under a key that HKDF-SHA-256 (RFC 5869) derives from the root of the records at rest: the
 * same for the same parts, and nobody without that key can find out what it stands for or make one.
 * @param purpose keeps digests of different things apart
 * @returns base64url, 43 characters
 */
export async function keyedDigest(key: ClientKey, purpose: string, parts: readonly string[]): Promise<string> {
  // JSON quotes the parts, so no two lists of them can produce the same octets.
  const info = Buffer.from(JSON.stringify([LABEL, purpose]), 'utf8');
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info };
  const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 };
  const derived = await crypto.subtle.deriveKey(derivation, await clientHandlesOf(key).atRest(), hmac, false, ['sign']);
  const digest = await crypto.subtle.sign('HMAC', derived, Buffer.from(JSON.stringify(parts), 'utf8'));
  return Buffer.from(digest).toString('base64url');
}

/**
 * A key pair that follows from a key and the parts, so that it has to be kept nowhere. Its scalar is made of 64 octets,
 * reduced (FIPS 186-5, A.2.1): so many more than its own 48 that none is likelier than another.
 */
export async function keyedKey(key: ClientKey, purpose: string, parts: readonly string[]): Promise<ClientKey> {
  const halves = await Promise.all(['1', '2'].map((half) => keyedDigest(key, purpose, [half, ...parts])));
  const octets = halves.map((half) => Buffer.from(half, 'base64url').toString('hex')).join('');
  const scalar = (BigInt(`0x${octets}`) % (ORDER - 1n)) + 1n;
  const d = Buffer.from(scalar.toString(16).padStart(2 * COORDINATE_BYTES, '0'), 'hex');
  const pair = createECDH(NODE_CURVE);
  pair.setPrivateKey(d);
  const point = pair.getPublicKey().subarray(1);
  const [x, y] = [point.subarray(0, COORDINATE_BYTES), point.subarray(COORDINATE_BYTES)];
  const [ofX, ofY, ofD] = [x, y, d].map((part) => part.toString('base64url'));
  return importClientKey({ kty: KEY_TYPE, crv: CURVE, x: ofX, y: ofY, d: ofD });
}
