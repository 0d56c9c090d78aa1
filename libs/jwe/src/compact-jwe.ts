import { BrokerError, type ErrorCode } from '#libs/errors';
import { isBase64url, isBase64urlOf } from './base64url.js';
import { CONTENT_ENCRYPTION, COORDINATE_BYTES, CURVE, IV_BYTES, KEY_MANAGEMENT, KEY_TYPE } from './profile.js';
import type { PublicJwk } from './public-jwk.js';

/** Five parts of the base64url alphabet: no padding, no white space, nothing after the last part. */
const COMPACT = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*){4}$/;

/** Characters of the encoded protected header. Ours takes about 300. */
const MAX_HEADER_CHARACTERS = 2_048;
const WRAPPED_KEY_BYTES = 40;
const TAG_BYTES = 16;

/** Members that would let a sender choose what the reader runs or trusts. */
const REFUSED_MEMBERS = ['crit', 'jku', 'jwk', 'x5u', 'x5c'] as const;

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

type Header = Readonly<Record<string, unknown>>;

/** The five parts of a compact JWE (RFC 7516 section 7.1), still encoded. */
interface CompactParts {
  readonly header: string;
  readonly wrappedKey: string;
  readonly iv: string;
  readonly ciphertext: string;
  readonly tag: string;
}

/** A JWE that has passed every check that needs no key, and what the key agreement needs from its header. */
export interface CheckedJwe extends CompactParts {
  /** Coordinates in the right form. Whoever uses the point has to check that it is on the curve. */
  readonly epk: PublicJwk;
  /** What it says about the two parties (RFC 7518 section 4.6.1), still encoded; empty if it says nothing. */
  readonly apu: string;
  readonly apv: string;
}

/**
 * Reads a compact JWE and checks everything that can be judged without a key: size, shape, header, lengths. All of this
 * is public, so telling the faults apart helps nobody guess keys or plaintext.
 * @throws BrokerError `jwe_too_large`, `jwe_malformed` or `jwe_algorithm_refused`
 */
export function readCompactJwe(jwe: string, maxBytes: number): CheckedJwe {
  if (jwe.length > maxBytes) throw refusal('jwe_too_large', `a compact JWE of at most ${maxBytes} bytes is accepted`);
  const parts = splitCompact(jwe);
  const agreement = checkedHeader(parseHeader(parts.header));
  if (!isBase64urlOf(parts.wrappedKey, WRAPPED_KEY_BYTES)) throw malformed('the encrypted key is not 40 octets');
  checkContent(parts);
  return { ...parts, ...agreement };
}

/** @throws BrokerError `jwe_malformed` */
export function splitCompact(jwe: string): CompactParts {
  if (!COMPACT.test(jwe)) throw malformed('a compact JWE is five parts of unpadded base64url, separated by dots');
  const [header, wrappedKey, iv, ciphertext, tag] = jwe.split('.') as [string, string, string, string, string];
  if (header.length > MAX_HEADER_CHARACTERS) throw malformed('the protected header is longer than 2 KiB');
  return { header, wrappedKey, iv, ciphertext, tag };
}

/**
 * Checks vector, ciphertext and tag against what A256GCM needs (RFC 7518 section 5.3).
 * @throws BrokerError `jwe_malformed`
 */
export function checkContent({ iv, ciphertext, tag }: CompactParts): void {
  if (!isBase64url(ciphertext)) throw malformed('the ciphertext is not base64url');
  if (!isBase64urlOf(iv, IV_BYTES)) throw malformed('the initialization vector is not 12 octets');
  if (!isBase64urlOf(tag, TAG_BYTES)) throw malformed('the authentication tag is not 16 octets');
}

/** @throws BrokerError `jwe_malformed` */
export function parseHeader(encoded: string): Header {
  if (!isBase64url(encoded)) throw malformed('the protected header is not base64url');
  try {
    const header: unknown = JSON.parse(UTF_8.decode(Buffer.from(encoded, 'base64url')));
    if (isObject(header)) return header;
  } catch {
    // The parser's own error is dropped on purpose: it quotes the header.
    throw malformed('the protected header is not JSON in UTF-8');
  }
  throw malformed('the protected header is not a JSON object');
}

function checkedHeader(header: Header): Pick<CheckedJwe, 'epk' | 'apu' | 'apv'> {
  if (header['alg'] !== KEY_MANAGEMENT) throw algorithmRefused(`"alg" must be "${KEY_MANAGEMENT}"`);
  if (header['enc'] !== CONTENT_ENCRYPTION) throw algorithmRefused(`"enc" must be "${CONTENT_ENCRYPTION}"`);
  if ('zip' in header) throw algorithmRefused('"zip" is not accepted: compression reveals lengths and invites bombs');
  const refused = REFUSED_MEMBERS.find((name) => name in header);
  if (refused !== undefined) throw malformed(`the header member "${refused}" is not accepted`);
  return { epk: ephemeralKeyOf(header['epk']), apu: partyOf(header, 'apu'), apv: partyOf(header, 'apv') };
}

function partyOf(header: Header, name: 'apu' | 'apv'): string {
  const { [name]: party = '' } = header;
  if (typeof party !== 'string' || !isBase64url(party)) throw malformed(`"${name}" must be base64url`);
  return party;
}

/** Any other members of `epk` are ignored (RFC 7518 section 4.6.1.1). */
function ephemeralKeyOf(epk: unknown): PublicJwk {
  if (!isObject(epk)) throw malformed('"epk" must be a JSON object');
  if (epk['kty'] !== KEY_TYPE || epk['crv'] !== CURVE) throw malformed('"epk" must be an EC key on P-384');
  if ('d' in epk) throw malformed('"epk" must not carry "d"');
  return { kty: KEY_TYPE, crv: CURVE, x: coordinateOf(epk, 'x'), y: coordinateOf(epk, 'y') };
}

function coordinateOf(epk: Header, name: 'x' | 'y'): string {
  const value = epk[name];
  if (!isBase64urlOf(value, COORDINATE_BYTES)) throw malformed(`"epk" must give "${name}" in 48 octets`);
  return value;
}

function isObject(value: unknown): value is Header {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const refusal = (code: ErrorCode, publicDetail: string): BrokerError => new BrokerError(code, { publicDetail });
const malformed = (fault: string): BrokerError => refusal('jwe_malformed', fault);
const algorithmRefused = (fault: string): BrokerError => refusal('jwe_algorithm_refused', fault);
