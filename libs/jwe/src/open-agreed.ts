import { createDecipheriv, createSecretKey } from 'node:crypto';
import type { CheckedJwe } from './compact-jwe.js';
import { CONTENT_CIPHER, WRAP_CIPHER, WRAP_IV } from './profile.js';
import { wrappingKeyOf } from './wrapping-key.js';

/**
 * The steps after the agreement of a JWE: wrapping key, content key, content (RFC 7518 sections 4.6.2, 4.4 and 5.3).
 * They are the same wherever the agreement was made.
 * @param secret is erased
 * @returns undefined if it does not open the JWE, whatever is wrong
 */
export function openAgreed(jwe: CheckedJwe, secret: Uint8Array): Uint8Array | undefined {
  const wrappingKey = wrappingKeyOf(secret, jwe);
  secret.fill(0);
  try {
    return openContent(jwe, unwrapped(jwe.wrappedKey, wrappingKey));
  } catch {
    // A bad wrap and a bad tag must look the same from outside, and are not logged.
    return undefined;
  } finally {
    wrappingKey.fill(0);
  }
}

function unwrapped(wrappedKey: string, wrappingKey: Buffer): Buffer {
  const cipher = createDecipheriv(WRAP_CIPHER, createSecretKey(wrappingKey), WRAP_IV);
  // This call returns the whole key, or throws; a copy would have to be erased too.
  const contentKey = cipher.update(wrappedKey, 'base64url');
  cipher.final();
  return contentKey;
}

function openContent({ header, iv, ciphertext, tag }: CheckedJwe, contentKey: Buffer): Uint8Array {
  const cipher = createDecipheriv(CONTENT_CIPHER, createSecretKey(contentKey), Buffer.from(iv, 'base64url'));
  contentKey.fill(0);
  cipher.setAAD(Buffer.from(header, 'ascii')).setAuthTag(Buffer.from(tag, 'base64url'));
  const { buffer, byteOffset, byteLength } = cipher.update(ciphertext, 'base64url');
  // Nothing is authenticated until here: it throws if the tag does not match.
  cipher.final();
  return new Uint8Array(buffer, byteOffset, byteLength);
}
