import { CURVE, KEY_MANAGEMENT, KEY_TYPE, KEY_USE } from './profile.js';
import { thumbprintOf } from './public-jwk.js';

export interface GeneratedClientKey {
  /** Secret. kty, crv, use, alg, x, y, d: it goes to a private file and nowhere else. */
  readonly privateJwk: Record<string, string>;
  /** kty, crv, use, alg, x, y: the form that is handed to the bank. */
  readonly publicJwk: Record<string, string>;
  readonly thumbprint: string;
}

/** Makes a client key pair in the form of the interface description, "Client key". */
export async function generateClientKey(): Promise<GeneratedClientKey> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: CURVE }, true, ['deriveBits']);
  const exported = await crypto.subtle.exportKey('jwk', pair.privateKey);
  const { x, y, d } = exported as { x: string; y: string; d: string };
  const publicJwk = { kty: KEY_TYPE, crv: CURVE, use: KEY_USE, alg: KEY_MANAGEMENT, x, y } as const;
  return { privateJwk: { ...publicJwk, d }, publicJwk: { ...publicJwk }, thumbprint: thumbprintOf(publicJwk) };
}
