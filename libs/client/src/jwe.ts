import type { webcrypto } from 'node:crypto';
import { InvalidInput } from './errors.js';
import { isJsonObject, type JsonObject } from './json.js';

type CryptoKey = webcrypto.CryptoKey;

/** A public P-384 key, as its two coordinates. */
export interface Point {
  readonly x: string;
  readonly y: string;
}

/** The one profile that the gateway speaks (interface description, "Create a technical session"). */
const KEY_MANAGEMENT = 'ECDH-ES+A256KW';
const CONTENT_ENCRYPTION = 'A256GCM';
export const CURVE = { name: 'ECDH', namedCurve: 'P-384' } as const;
const IV_OCTETS = 12;
const TAG_OCTETS = 16;
const SHARED_BITS = 384;
const KEY_BITS = 256;
/** 48 octets: RFC 7518 section 6.2.1.2 requires all of them. */
export const COORDINATE = /^[A-Za-z0-9_-]{64}$/;
const MAX_PAYLOAD_BYTES = 65_536;

const { subtle } = crypto;
const utf8 = new TextEncoder();

export const base64url = (octets: ArrayBuffer | Uint8Array): string =>
  Buffer.from(octets instanceof Uint8Array ? octets : new Uint8Array(octets)).toString('base64url');

/**
 * Seals a payload in this process: only the holder of the recipient's private key can read it.
 * @throws InvalidInput `jwk_invalid`, `payload_invalid` or `payload_too_large`
 */
export async function seal(recipient: object, payload: string | Uint8Array): Promise<string> {
  const octets: unknown = typeof payload === 'string' ? utf8.encode(payload) : payload;
  if (!ArrayBuffer.isView(octets)) {
    const says = `A payload is a string or a Uint8Array, not ${typeof payload}: JSON.stringify an object first`;
    throw new InvalidInput('payload_invalid', says);
  }
  if (octets.byteLength > MAX_PAYLOAD_BYTES) {
    throw new InvalidInput('payload_too_large', `A payload of at most ${MAX_PAYLOAD_BYTES} octets can be sealed`);
  }
  const fault = isJsonObject(recipient) ? faultOf(recipient) : 'a JSON Web Key is a JSON object';
  if (fault !== undefined) throw new InvalidInput('jwk_invalid', fault);
  const key = await importPoint(recipient as Point).catch(() => {
    // The platform's own error names no member, but only the point can still be wrong.
    throw new InvalidInput('jwk_invalid', '"x" and "y" are not a point on P-384');
  });
  return sealedTo(key, octets as Uint8Array);
}

/** A private key in the wrong place outranks every other fault. */
function faultOf({ d, kty, crv, use = 'enc', alg = KEY_MANAGEMENT, x, y }: JsonObject): string | undefined {
  if (d !== undefined) return '"d" is present: this is a private key; treat it as exposed';
  if (kty !== 'EC' || crv !== 'P-384') return '"kty" must be "EC", and "crv" "P-384"';
  if (use !== 'enc' || alg !== KEY_MANAGEMENT)
    return `"use" and "alg", when given, must be "enc" and "${KEY_MANAGEMENT}"`;
  const areWhole = [x, y].every((each) => typeof each === 'string' && COORDINATE.test(each));
  return areWhole ? undefined : '"x" and "y" must be base64url of 48 octets';
}

/** @throws the platform's error for a point that is not on the curve */
export function importPoint({ x, y }: Point): Promise<CryptoKey> {
  return subtle.importKey('jwk', { kty: 'EC', crv: 'P-384', x, y }, CURVE, false, []);
}

/** A compact JWE (RFC 7516) with the protected header {alg, enc, epk}, sealed to a public key from `importPoint`. */
export async function sealedTo(recipient: CryptoKey, octets: Uint8Array): Promise<string> {
  // Used once: knowing it would reveal only this one payload.
  const ephemeral = await subtle.generateKey(CURVE, false, ['deriveBits']);
  const { x, y } = await subtle.exportKey('jwk', ephemeral.publicKey);
  const header = { alg: KEY_MANAGEMENT, enc: CONTENT_ENCRYPTION, epk: { kty: 'EC', crv: 'P-384', x, y } };
  const protectedHeader = base64url(utf8.encode(JSON.stringify(header)));
  const wrapping = await wrappingKey(ephemeral.privateKey, recipient);
  const contentKey = await subtle.generateKey({ name: 'AES-GCM', length: KEY_BITS }, true, ['encrypt']);
  const wrapped = await subtle.wrapKey('raw', contentKey, wrapping, 'AES-KW');
  const iv = crypto.getRandomValues(new Uint8Array(IV_OCTETS));
  const algorithm = { name: 'AES-GCM', iv, additionalData: utf8.encode(protectedHeader) };
  const sealed = new Uint8Array(await subtle.encrypt(algorithm, contentKey, octets));
  const [text, tag] = [sealed.subarray(0, -TAG_OCTETS), sealed.subarray(-TAG_OCTETS)];
  return [protectedHeader, ...[wrapped, iv, text, tag].map((part) => base64url(part))].join('.');
}

/** The key that wraps the content key (RFC 7518 section 4.6.2): one round of the Concat KDF yields all of it. */
export async function wrappingKey(own: CryptoKey, other: CryptoKey): Promise<CryptoKey> {
  const shared = await subtle.deriveBits({ name: 'ECDH', public: other }, own, SHARED_BITS);
  const material = Buffer.concat([
    uint32(1),
    new Uint8Array(shared),
    uint32(KEY_MANAGEMENT.length),
    utf8.encode(KEY_MANAGEMENT),
    // Neither side is named.
    uint32(0),
    uint32(0),
    uint32(KEY_BITS),
  ]);
  const key = await subtle.digest('SHA-256', material);
  return subtle.importKey('raw', key, 'AES-KW', false, ['wrapKey', 'unwrapKey']);
}

function uint32(value: number): Uint8Array {
  const octets = new Uint8Array(4);
  new DataView(octets.buffer).setUint32(0, value);
  return octets;
}
