import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { BrokerError } from '#libs/errors';

/** The public half as the interface description writes it: kty, crv, x, y and nothing else. */
export interface PublicJwk {
  readonly kty: 'EC';
  readonly crv: 'P-384';
  readonly x: string;
  readonly y: string;
}

export interface PublicKey {
  readonly jwk: PublicJwk;
  readonly key: KeyObject;
}

export interface KeyPair extends PublicKey {
  readonly privateKey: KeyObject;
}

const COORDINATE_OCTETS = 48;

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads a public P-384 key for ECDH-ES+A256KW (interface description, section "Client key").
 * @throws BrokerError `jwk_invalid` when it is another kind of key, holds `d`, or its point is not on the curve
 */
export function readPublicKey(value: unknown): PublicKey {
  const members = membersOf(value);
  if ('d' in members) throw refused('must not hold "d": a private key stays with its owner');
  return publicKeyOf(members);
}

/**
 * Reads a private P-384 key; only the test-only helper accepts one.
 * @throws BrokerError `jwk_invalid`, also when `d` does not belong to x and y
 */
export function readPrivateKey(value: unknown): KeyPair {
  const members = membersOf(value);
  const publicKey = publicKeyOf(members);
  const d = coordinate(members, 'd');
  // Node.js silently accepts a `d` that belongs to a different x and y.
  if (!pointOf(d).equals(uncompressed(publicKey.jwk))) throw refused('"d" does not belong to "x" and "y"');
  const jwk = { ...publicKey.jwk, d: encodeBase64url(d) };
  return { ...publicKey, privateKey: createPrivateKey({ key: jwk, format: 'jwk' }) };
}

export function generateKeyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  return { jwk: { kty: 'EC', crv: 'P-384', x, y }, key: publicKey, privateKey };
}

/** RFC 7638: SHA-256 over the required members in lexical order, base64url. */
export function thumbprint({ crv, kty, x, y }: PublicJwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

function publicKeyOf(members: Members): PublicKey {
  if (members['kty'] !== 'EC') throw refused('"kty" must be "EC"');
  if (members['crv'] !== 'P-384') throw refused('"crv" must be "P-384"');
  for (const [name, due] of [
    ['use', 'enc'],
    ['alg', 'ECDH-ES+A256KW'],
  ] as const) {
    if (members[name] !== undefined && members[name] !== due) throw refused(`"${name}", when given, must be "${due}"`);
  }
  const x = encodeBase64url(coordinate(members, 'x'));
  const y = encodeBase64url(coordinate(members, 'y'));
  const jwk = { kty: 'EC', crv: 'P-384', x, y } as const;
  try {
    return { jwk, key: createPublicKey({ key: { ...jwk }, format: 'jwk' }) };
  } catch (error) {
    throw refused('"x" and "y" are no point of P-384', error);
  }
}

function membersOf(value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused('must be a JSON object');
  return value as Members;
}

function coordinate(members: Members, name: string): Buffer {
  const text = members[name];
  const octets = typeof text === 'string' ? decodeBase64url(text) : undefined;
  if (octets?.length !== COORDINATE_OCTETS) {
    throw refused(`"${name}" must be unpadded base64url of ${COORDINATE_OCTETS} octets`);
  }
  return octets;
}

function pointOf(d: Buffer): Buffer {
  const agreement = createECDH('secp384r1');
  try {
    agreement.setPrivateKey(d);
  } catch (error) {
    throw refused('"d" is no private key of P-384', error);
  }
  return agreement.getPublicKey();
}

/** SEC 1, section 2.3.3: 04, x, y. */
function uncompressed({ x, y }: PublicJwk): Buffer {
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
}

function refused(fault: string, cause?: unknown): BrokerError {
  return new BrokerError('jwk_invalid', { publicDetail: fault, cause });
}

/**
 * Unpadded base64url (RFC 7515, section 2): one spelling per value, so other spellings of the same octets are refused.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const octets = Buffer.from(text, 'base64url');
  return octets.toString('base64url') === text ? octets : undefined;
}

export function encodeBase64url(octets: Uint8Array | string): string {
  return Buffer.from(octets).toString('base64url');
}
