import { createDecipheriv, createHash } from 'node:crypto';
import { isBase64url } from './base64url.js';
import type { ClientKeys } from './client-keys.js';
import { parseHeader, splitCompact } from './compact-jwe.js';
import { importServerKey } from './import-key.js';
import { CONTENT_ENCRYPTION, KEY_MANAGEMENT } from './profile.js';

type Header = Readonly<Record<string, unknown>>;

const KEK_BITS = 256;
/** RFC 3394 section 2.2.3.1. */
const WRAP_IV = Buffer.alloc(8, 0xa6);

/**
 * Opens a JWE, checked for everything that shows without a key, with a private key that is kept elsewhere: the agreement is
 * made there, and what follows from it here (RFC 7518 sections 4.6.2, 4.4 and 5.3).
 * @returns undefined when the key does not open it, whatever is wrong
 * @throws BrokerError `client_key_unavailable` when the key cannot be asked
 */
export async function openInCustody(jwe: string, custody: ClientKeys): Promise<Uint8Array | undefined> {
  const parts = splitCompact(jwe);
  const header = parseHeader(parts.header);
  const peer = await pointOnCurve(header['epk']);
  const otherInfo = otherInfoOf(header);
  if (peer === undefined || otherInfo === undefined) return undefined;
  const secret = await custody.deriveSharedSecret(peer);
  const wrapping = createHash('sha256')
    .update(Buffer.of(0, 0, 0, 1))
    .update(secret)
    .update(otherInfo)
    .digest();
  secret.fill(0);
  try {
    const unwrap = createDecipheriv('id-aes256-wrap', wrapping, WRAP_IV);
    const contentKey = Buffer.concat([unwrap.update(parts.wrappedKey, 'base64url'), unwrap.final()]);
    const content = createDecipheriv('aes-256-gcm', contentKey, Buffer.from(parts.iv, 'base64url'));
    contentKey.fill(0);
    content.setAAD(Buffer.from(parts.header, 'ascii')).setAuthTag(Buffer.from(parts.tag, 'base64url'));
    return new Uint8Array(Buffer.concat([content.update(parts.ciphertext, 'base64url'), content.final()]));
  } catch {
    // A bad wrap and a bad tag must look the same from outside, and are told to no log.
    return undefined;
  } finally {
    wrapping.fill(0);
  }
}

/** No point goes to the custody that is not on the curve (RFC 8725 section 3.4): the import refuses it. */
async function pointOnCurve(epk: unknown) {
  const { kty, crv, x, y } = epk as Header;
  try {
    return (await importServerKey({ kty, crv, x, y })).jwk;
  } catch {
    return undefined;
  }
}

/** RFC 7518 section 4.6.2: AlgorithmID, PartyUInfo, PartyVInfo and SuppPubInfo of the key that wraps. */
function otherInfoOf({ enc, apu = '', apv = '' }: Header): Buffer | undefined {
  if (enc !== CONTENT_ENCRYPTION || !isParty(apu) || !isParty(apv)) return undefined;
  const [partyU, partyV] = [apu, apv].map((party) => Buffer.from(party, 'base64url')) as [Buffer, Buffer];
  return Buffer.concat([...[Buffer.from(KEY_MANAGEMENT, 'ascii'), partyU, partyV].map(withLength), uint32(KEK_BITS)]);
}

const isParty = (value: unknown): value is string => typeof value === 'string' && (value === '' || isBase64url(value));

const withLength = (data: Buffer): Buffer => Buffer.concat([uint32(data.byteLength), data]);

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
