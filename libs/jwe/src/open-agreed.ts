import { createDecipheriv, createSecretKey } from 'node:crypto';
import type { CheckedJwe } from './compact-jwe.js';
import { CONTENT_CIPHER, WRAP_CIPHER, WRAP_IV } from './profile.js';
import { wrappingKeyOf } from './wrapping-key.js';

/**
 * What follows from the agreement of a JWE: the key that wraps, the content key, the content (RFC 7518 sections 4.6.2, 4.4
 * and 5.3). It is the same wherever the agreement was made.
 * @param secret is erased
 * @returns undefined when it does not open it, whatever is wrong
 */
export function openAgreed(jwe: CheckedJwe, secret: Uint8Array): Uint8Array | undefined {
  const wrappingKey = wrappingKeyOf(secret, jwe);
  secret.fill(0);
  try {
    return openContent(jwe, unwrapped(jwe.wrappedKey, wrappingKey));
  } catch {
    // A bad wrap and a bad tag must look the same from outside, and are told to no log.
    return undefined;
  } finally {
    wrappingKey.fill(0);
  }
}

function unwrapped(wrappedKey: string, wrappingKey: Buffer): Buffer {
  const cipher = createDecipheriv(WRAP_CIPHER, createSecretKey(wrappingKey), WRAP_IV);
  // All of the key comes out of this call, or it throws; a copy would have to be erased too.
  const contentKey = cipher.update(wrappedKey, 'base64url');
  cipher.final();
  return contentKey;
}

function openContent({ header, iv, ciphertext, tag }: CheckedJwe, contentKey: Buffer): Uint8Array {
  const cipher = createDecipheriv(CONTENT_CIPHER, createSecretKey(contentKey), Buffer.from(iv, 'base64url'));
  contentKey.fill(0);
  cipher.setAAD(Buffer.from(header, 'ascii')).setAuthTag(Buffer.from(tag, 'base64url'));
  const { buffer, byteOffset, byteLength } = cipher.update(ciphertext, 'base64url');
  // Until here nothing is proved: it throws where the tag does not fit.
  cipher.final();
  return new Uint8Array(buffer, byteOffset, byteLength);
}
