import { createHash } from 'node:crypto';
import { KEY_MANAGEMENT } from './profile.js';

const KEK_BITS = 256;
/** One round of the hash gives all the bits that are needed, so the counter is always 1. */
const FIRST_ROUND = Buffer.of(0, 0, 0, 1);
const ALGORITHM_ID = withLength(Buffer.from(KEY_MANAGEMENT, 'ascii'));
const KEY_LENGTH = uint32(KEK_BITS);

/** What a header says about the two parties, in base64url; empty if it says nothing. */
interface Parties {
  readonly apu: string;
  readonly apv: string;
}

/**
 * The key that wraps the content key, derived from a shared secret: Concat KDF with SHA-256 (RFC 7518 section 4.6.2).
 * @returns 32 octets, which the caller erases
 */
export function wrappingKeyOf(secret: Uint8Array, { apu, apv }: Parties): Buffer {
  return createHash('sha256')
    .update(FIRST_ROUND)
    .update(secret)
    .update(ALGORITHM_ID)
    .update(withLength(Buffer.from(apu, 'base64url')))
    .update(withLength(Buffer.from(apv, 'base64url')))
    .update(KEY_LENGTH)
    .digest();
}

function withLength(data: Buffer): Buffer {
  return Buffer.concat([uint32(data.byteLength), data]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
