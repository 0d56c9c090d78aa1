import { createCipheriv, createSecretKey, randomBytes } from 'node:crypto';
import {
  CONTENT_CIPHER,
  CONTENT_ENCRYPTION,
  CONTENT_KEY_BYTES,
  IV_BYTES,
  KEY_MANAGEMENT,
  WRAP_CIPHER,
  WRAP_IV,
} from './profile.js';
import type { PublicJwk } from './public-jwk.js';
import { wrappingKeyOf } from './wrapping-key.js';

/** Sealing names no party (interface description, "Create a technical session"). */
const NO_PARTIES = { apu: '', apv: '' };

/** The agreement of one JWE. */
export interface Agreement {
  readonly epk: PublicJwk;
  /** Is erased. */
  readonly secret: Uint8Array;
}

/** A compact JWE under a shared secret, with its own content key and initialization vector (RFC 7516 section 5.1). */
export function sealAgreed(plaintext: Uint8Array, { epk, secret }: Agreement): string {
  const wrappingKey = wrappingKeyOf(secret, NO_PARTIES);
  secret.fill(0);
  const contentKey = randomBytes(CONTENT_KEY_BYTES);
  try {
    const header = encoded(Buffer.from(JSON.stringify({ alg: KEY_MANAGEMENT, enc: CONTENT_ENCRYPTION, epk }), 'ascii'));
    const wrap = createCipheriv(WRAP_CIPHER, createSecretKey(wrappingKey), WRAP_IV);
    const wrappedKey = Buffer.concat([wrap.update(contentKey), wrap.final()]);
    const iv = randomBytes(IV_BYTES);
    const content = createCipheriv(CONTENT_CIPHER, createSecretKey(contentKey), iv).setAAD(
      Buffer.from(header, 'ascii'),
    );
    const ciphertext = Buffer.concat([content.update(plaintext), content.final()]);
    return [header, ...[wrappedKey, iv, ciphertext, content.getAuthTag()].map(encoded)].join('.');
  } finally {
    contentKey.fill(0);
    wrappingKey.fill(0);
  }
}

const encoded = (octets: Buffer): string => octets.toString('base64url');
