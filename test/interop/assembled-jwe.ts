import { createCipheriv, createHash } from 'node:crypto';

/** The algorithms of an assembly: those of the profile, or those of the example that verifies the assembly. */
export interface Suite {
  readonly alg: 'ECDH-ES+A256KW' | 'ECDH-ES+A128KW';
  readonly enc: 'A256GCM' | 'A128GCM';
  readonly bits: 256 | 128;
}

export const profileSuite: Suite = { alg: 'ECDH-ES+A256KW', enc: 'A256GCM', bits: 256 };

export interface Ingredients {
  readonly suite: Suite;
  readonly protectedHeader: Readonly<Record<string, unknown>>;
  /** The ECDH shared secret: given, so that no elliptic-curve code takes part in the assembly. */
  readonly sharedSecret: Buffer;
  readonly contentKey: Buffer;
  readonly iv: Buffer;
  readonly plaintext: Buffer;
}

/**
 * A compact JWE assembled from its parts (RFC 7516 section 5.1, RFC 7518 section 4.6) with only the hash and the cipher
 * of the runtime. A vector that states a shared secret thereby becomes a JWE that opens if, and only if, the code under
 * test arrives at the same secret.
 */
export function assembleJwe(parts: Ingredients): string {
  const { suite, protectedHeader, sharedSecret, contentKey, iv, plaintext } = parts;
  const header = b64(Buffer.from(JSON.stringify(protectedHeader)));
  const bytes = suite.bits / 8;
  const wrap = createCipheriv(`id-aes${suite.bits}-wrap`, concatKdf(suite, sharedSecret), Buffer.alloc(8, 0xa6));
  const wrappedKey = Buffer.concat([wrap.update(contentKey.subarray(0, bytes)), wrap.final()]);
  const seal = createCipheriv(`aes-${suite.bits}-gcm`, contentKey.subarray(0, bytes), iv).setAAD(Buffer.from(header));
  const ciphertext = Buffer.concat([seal.update(plaintext), seal.final()]);
  return [header, b64(wrappedKey), b64(iv), b64(ciphertext), b64(seal.getAuthTag())].join('.');
}

/** NIST SP 800-56A Concat KDF with SHA-256, one round, empty party infos (RFC 7518 section 4.6.2). */
function concatKdf(suite: Suite, sharedSecret: Buffer): Buffer {
  const info = [
    prefixed(Buffer.from(suite.alg)),
    prefixed(Buffer.alloc(0)),
    prefixed(Buffer.alloc(0)),
    uint32(suite.bits),
  ];
  const digest = createHash('sha256')
    .update(Buffer.concat([uint32(1), sharedSecret, ...info]))
    .digest();
  return digest.subarray(0, suite.bits / 8);
}

const b64 = (octets: Buffer): string => octets.toString('base64url');
const prefixed = (octets: Buffer): Buffer => Buffer.concat([uint32(octets.length), octets]);

function uint32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}
