import { randomBytes } from 'node:crypto';
import { BrokerError } from '#libs/errors';
import { openCompact, sealCompact } from '../crypto/compact-jwe.js';
import { encodeBase64url, generateKeyPair, type KeyPair, type PublicKey } from '../crypto/ec-key.js';
import type { Trouble } from '../faults/fault.js';
import { GatewayRefusal } from './refusal.js';

type JweShape = Extract<Trouble, { readonly kind: 'garbage_jwe' }>['shape'];
type Header = Record<string, unknown>;

/**
 * Opens a body that is a compact JWE, or one as a JSON string, as observed.
 * @throws GatewayRefusal `b_invalid_request` when it is not text, `b_encryptor_failed_decrypt_message` when it does not
 * open
 */
export function openSealed(body: unknown, own: KeyPair): Buffer {
  if (typeof body !== 'string') {
    throw new GatewayRefusal('b_invalid_request', { msgText: 'The body must be a compact JWE as text/plain' });
  }
  try {
    return openCompact(body.trim().replace(/^"(.*)"$/, '$1'), own);
  } catch (error) {
    if (error instanceof BrokerError) throw new GatewayRefusal('b_encryptor_failed_decrypt_message');
    throw error;
  }
}

/** Seals for the recipient, or as badly as the fault demands. */
export function sealFor(recipient: PublicKey, plaintext: Uint8Array | string, trouble: Trouble | undefined): string {
  if (trouble?.kind === 'wrong_key') return sealCompact(plaintext, generateKeyPair());
  const compact = sealCompact(plaintext, recipient);
  return trouble?.kind === 'garbage_jwe' ? spoil(compact, trouble.shape) : compact;
}

function spoil(compact: string, shape: JweShape): string {
  switch (shape) {
    case 'random':
      return [64, 40, 12, 200, 16].map((length) => encodeBase64url(randomBytes(length))).join('.');
    case 'four_parts':
      return compact.split('.').slice(0, 4).join('.');
    case 'other_alg':
      return withHeader(compact, (header) => ({ ...header, alg: 'ECDH-ES' }));
    case 'zip':
      return withHeader(compact, (header) => ({ ...header, zip: 'DEF' }));
    case 'crit':
      return withHeader(compact, (header) => ({ ...header, crit: ['exp'], exp: 0 }));
    case 'bad_epk':
      return withHeader(compact, (header) => ({ ...header, epk: { kty: 'EC', crv: 'P-384', x: 'AA', y: 'AA' } }));
  }
}

function withHeader(compact: string, change: (header: Header) => Header): string {
  const [encoded = '', ...rest] = compact.split('.');
  const header = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as Header;
  return [encodeBase64url(JSON.stringify(change(header))), ...rest].join('.');
}
