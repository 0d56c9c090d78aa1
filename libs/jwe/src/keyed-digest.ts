import { type ClientKey, clientHandlesOf } from './client-key.js';

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
