import { isUtf8 } from 'node:buffer';
import { BrokerError } from '#libs/errors';

/** Size in bytes of the longest payload that is sealed or opened. */
export const MAX_PLAINTEXT_BYTES = 65_536;

/** The compact JWE of such a payload: its base64url, the longest header that is accepted, key, vector, tag and dots. */
export const MAX_JWE_BYTES = Math.ceil((MAX_PLAINTEXT_BYTES * 4) / 3) + 2_048 + 54 + 16 + 22 + 4;

/**
 * How bytes are written in JSON: as the text they represent, or as standard base64 with padding (RFC 4648 section 4).
 */
export const ENCODINGS = ['utf8', 'base64'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/**
 * The bytes that a text in the given encoding stands for.
 * @throws BrokerError `invalid_request`; never contains a character of the text
 */
export function bytesOf(text: string, encoding: Encoding): Buffer {
  // A lone surrogate has no UTF-8, and would silently become another character.
  if (encoding === 'utf8' && !text.isWellFormed()) throw refusal('plaintext: is not well-formed Unicode');
  const bytes = Buffer.from(text, encoding);
  if (encoding === 'base64' && bytes.toString('base64') !== text) {
    throw refusal('plaintext: is not base64 of the standard alphabet with its padding');
  }
  return bytes;
}

/**
 * Bytes as text: UTF-8 if that is exact and base64 was not asked for, otherwise base64.
 * @throws BrokerError `invalid_request` when UTF-8 is asked for and the bytes are not UTF-8
 */
export function textOf(plaintext: Uint8Array, wish: Encoding | undefined): { text: string; encoding: Encoding } {
  const bytes = Buffer.from(plaintext.buffer, plaintext.byteOffset, plaintext.byteLength);
  if (wish !== 'base64' && isUtf8(bytes)) return { text: bytes.toString('utf8'), encoding: 'utf8' };
  if (wish === 'utf8') throw refusal('encoding: the plaintext is not UTF-8; ask for base64, or leave it out');
  return { text: bytes.toString('base64'), encoding: 'base64' };
}

function refusal(publicDetail: string): BrokerError {
  return new BrokerError('invalid_request', { publicDetail });
}
