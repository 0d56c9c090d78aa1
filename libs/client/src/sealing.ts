import { InvalidInput } from './errors.js';
import { isJsonObject, type JsonObject } from './json.js';
import { importPoint, KEY_MANAGEMENT, type Point, sealedTo } from './jwe.js';

type PublicKey = Awaited<ReturnType<typeof importPoint>>;

/** 48 octets: RFC 7518 section 6.2.1.2 requires all of them. */
const COORDINATE = /^[A-Za-z0-9_-]{64}$/;
const MAX_PAYLOAD_BYTES = 65_536;

const utf8 = new TextEncoder();

/** By the session's own key object, which is frozen: a key of the caller's could change. */
const sessionKeys = new WeakMap<object, Promise<PublicKey>>();

/**
 * Seals a payload in this process: only the holder of the recipient's private key can read it.
 * @throws InvalidInput `jwk_invalid`, `payload_invalid` or `payload_too_large`
 */
export async function seal(recipient: object, payload: string | Uint8Array): Promise<string> {
  const octets = octetsOf(payload);
  const key = sessionKeys.get(recipient) ?? imported(demandPublicJwk(recipient));
  if (Object.isFrozen(recipient)) sessionKeys.set(recipient, key);
  return sealedTo(await key, octets);
}

function octetsOf(payload: unknown): Uint8Array {
  const octets = typeof payload === 'string' ? utf8.encode(payload) : payload;
  if (!ArrayBuffer.isView(octets)) {
    const given = payload === null ? 'null' : typeof payload;
    const remedy = given === 'object' ? ': JSON.stringify it first' : '';
    throw new InvalidInput('payload_invalid', `A payload is a string or a Uint8Array, not ${given}${remedy}`);
  }
  if (octets.byteLength > MAX_PAYLOAD_BYTES) {
    throw new InvalidInput('payload_too_large', `A payload of at most ${MAX_PAYLOAD_BYTES} octets can be sealed`);
  }
  return octets as Uint8Array;
}

async function imported({ x, y }: Point): Promise<PublicKey> {
  try {
    return await importPoint({ x, y });
  } catch {
    // The platform's own error names no member, but only the point can still be wrong.
    throw new InvalidInput('jwk_invalid', '"x" and "y" are not a point on P-384');
  }
}

const isCoordinate = (value: unknown): value is string => typeof value === 'string' && COORDINATE.test(value);

/** A private key in the wrong place outranks every other fault. */
function faultOf({ d, kty, crv, use = 'enc', alg = KEY_MANAGEMENT, x, y }: JsonObject): string | undefined {
  if (d !== undefined) return '"d" is present: this is a private key; treat it as exposed';
  if (kty !== 'EC') return '"kty" must be "EC"';
  if (crv !== 'P-384') return '"crv" must be "P-384"';
  if (use !== 'enc') return '"use", when given, must be "enc"';
  if (alg !== KEY_MANAGEMENT) return `"alg", when given, must be "${KEY_MANAGEMENT}"`;
  return isCoordinate(x) && isCoordinate(y) ? undefined : '"x" and "y" must be base64url of 48 octets';
}

function demandPublicJwk(jwk: unknown): Point {
  if (!isJsonObject(jwk)) throw new InvalidInput('jwk_invalid', 'A JSON Web Key is a JSON object');
  const fault = faultOf(jwk);
  if (fault !== undefined) throw new InvalidInput('jwk_invalid', fault);
  return { x: jwk['x'] as string, y: jwk['y'] as string };
}
