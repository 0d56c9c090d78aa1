import { CompactEncrypt, type CryptoKey, importJWK } from 'jose';
import { InvalidInput } from './errors.js';
import { isJsonObject, type JsonObject } from './json.js';

/** The one profile that the gateway speaks (interface description, "Create a technical session"). */
const KEY_MANAGEMENT = 'ECDH-ES+A256KW';
const CONTENT_ENCRYPTION = 'A256GCM';
/** 48 octets: RFC 7518 section 6.2.1.2 demands all of them. */
const COORDINATE = /^[A-Za-z0-9_-]{64}$/;
const MAX_PAYLOAD_BYTES = 65_536;
/** The session's key, the one before it, and a few payment keys. */
const KEYS_KEPT = 16;

const utf8 = new TextEncoder();

/** Seals payloads in this process: only the holder of the recipient's private key can read what is in them. */
export class Sealing {
  readonly #keys = new Map<string, Promise<CryptoKey>>();

  /**
   * @param recipient a public JWK: EC, P-384
   * @returns a compact JWE with the protected header {alg, enc, epk}
   * @throws InvalidInput `jwk_invalid` or `payload_too_large`
   */
  async seal(recipient: unknown, payload: string | Uint8Array): Promise<string> {
    const octets = typeof payload === 'string' ? utf8.encode(payload) : payload;
    if (octets.byteLength > MAX_PAYLOAD_BYTES) {
      throw new InvalidInput('payload_too_large', `A payload of at most ${MAX_PAYLOAD_BYTES} octets can be sealed`);
    }
    const key = await this.#keyOf(recipient);
    return new CompactEncrypt(octets).setProtectedHeader({ alg: KEY_MANAGEMENT, enc: CONTENT_ENCRYPTION }).encrypt(key);
  }

  #keyOf(recipient: unknown): Promise<CryptoKey> {
    const { x, y } = demandPublicJwk(recipient);
    const name = `${x}.${y}`;
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const key = imported(x, y);
    this.#keys.set(name, key);
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size <= KEYS_KEPT) break;
      this.#keys.delete(oldest);
    }
    return key;
  }
}

async function imported(x: string, y: string): Promise<CryptoKey> {
  try {
    return await importJWK({ kty: 'EC', crv: 'P-384', x, y }, KEY_MANAGEMENT);
  } catch {
    // The platform's own error names no member; what is left that can be wrong is the point.
    throw new InvalidInput('jwk_invalid', '"x" and "y" are not a point on P-384');
  }
}

interface Rule {
  readonly isKept: (jwk: JsonObject) => boolean;
  readonly fault: string;
}

const given = (jwk: JsonObject, name: string, value: string): boolean => jwk[name] === undefined || jwk[name] === value;
const isCoordinate = (value: unknown): value is string => typeof value === 'string' && COORDINATE.test(value);

// A private key in the wrong place outranks every other fault.
const rules: readonly Rule[] = [
  { isKept: (jwk) => !('d' in jwk), fault: '"d" is present: this is a private key; treat it as exposed' },
  { isKept: ({ kty }) => kty === 'EC', fault: '"kty" must be "EC"' },
  { isKept: ({ crv }) => crv === 'P-384', fault: '"crv" must be "P-384"' },
  { isKept: (jwk) => given(jwk, 'use', 'enc'), fault: '"use", when given, must be "enc"' },
  { isKept: (jwk) => given(jwk, 'alg', KEY_MANAGEMENT), fault: `"alg", when given, must be "${KEY_MANAGEMENT}"` },
  { isKept: ({ x, y }) => isCoordinate(x) && isCoordinate(y), fault: '"x" and "y" must be base64url of 48 octets' },
];

function demandPublicJwk(jwk: unknown): { x: string; y: string } {
  if (!isJsonObject(jwk)) throw new InvalidInput('jwk_invalid', 'A JSON Web Key is a JSON object');
  const broken = rules.find(({ isKept }) => !isKept(jwk));
  if (broken !== undefined) throw new InvalidInput('jwk_invalid', broken.fault);
  return { x: jwk['x'] as string, y: jwk['y'] as string };
}
