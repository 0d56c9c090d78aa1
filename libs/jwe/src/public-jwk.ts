import { createHash, ECDH } from 'node:crypto';
import { NODE_CURVE } from './profile.js';

/** The public half of a key as the interface writes it: `x` and `y` are base64url of 48 octets each. */
export interface PublicJwk {
  readonly kty: 'EC';
  readonly crv: 'P-384';
  readonly x: string;
  readonly y: string;
}

/** The point in its uncompressed form (SEC 1 section 2.3.3), 97 octets. */
export function pointOf({ x, y }: PublicJwk): Buffer {
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
}

/** Whether it is a point of P-384: OpenSSL refuses to read one off the curve. The point at infinity has no such form. */
export function isOnCurve(jwk: PublicJwk): boolean {
  try {
    ECDH.convertKey(pointOf(jwk), NODE_CURVE);
    return true;
  } catch {
    return false;
  }
}

/** The JWK thumbprint of RFC 7638 with SHA-256, in base64url: public, and the name of the key in logs and records. */
export function thumbprintOf(jwk: PublicJwk): string {
  // Required members only, in lexicographic order, no white space (RFC 7638 section 3.2).
  const canonical = JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y });
  return createHash('sha256').update(canonical, 'utf8').digest('base64url');
}
