import type { webcrypto } from 'node:crypto';
import { BrokerError } from '#libs/errors';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { type ClientKey, clientHandlesOf } from './client-key.js';
import { checkContent, parseHeader, splitCompact } from './compact-jwe.js';
import { CONTENT_ENCRYPTION, DEFAULT_MAX_JWE_BYTES } from './profile.js';

/** What a record is bound to: it opens for this merchant and this generation, and nowhere else. */
interface AtRestBinding {
  readonly merchant: string;
  readonly generation: number;
}

const DIRECT = 'dir';
/** The purpose and version of the derivation: a later scheme uses another label and cannot be confused with it. */
const LABEL = 'session-broker/at-rest/v1';

/** A session is about 1 KiB; whatever is sealed must be short enough to be opened again. */
const MAX_RECORD_BYTES = DEFAULT_MAX_JWE_BYTES / 2;

const ONLY_AT_REST = {
  keyManagementAlgorithms: [DIRECT],
  contentEncryptionAlgorithms: [CONTENT_ENCRYPTION],
  maxDecompressedLength: 0,
};

/**
 * Seals a record for the store: JWE `dir` with A256GCM under a key that HKDF-SHA-256 (RFC 5869) derives for this
 * merchant and generation from the private scalar or, for a key kept elsewhere, from one agreement. The header repeats
 * the binding and names the key by thumbprint.
 * @throws BrokerError `jwe_too_large` when the record is longer than 32 KiB
 */
export async function sealAtRest(plaintext: Uint8Array, key: ClientKey, binding: AtRestBinding): Promise<string> {
  if (plaintext.byteLength > MAX_RECORD_BYTES) {
    throw new BrokerError('jwe_too_large', { detail: `a record of at most ${MAX_RECORD_BYTES} bytes is sealed` });
  }
  return new CompactEncrypt(plaintext)
    .setProtectedHeader({ ...expectedHeader(key, binding) })
    .encrypt(await recordKey(await clientHandlesOf(key).atRest(), binding, 'encrypt'));
}

/**
 * Opens a record from the store with whichever of `keys` sealed it.
 * @returns undefined if it is damaged, bound to something else, or sealed under a key that is not given: to the caller,
 * such a record is absent
 */
export async function openAtRest(
  jwe: string,
  keys: readonly ClientKey[],
  binding: AtRestBinding,
): Promise<Uint8Array | undefined> {
  const header = readHeader(jwe);
  // The same key may be given twice while it moves from a file into a token: each of the two has its own root.
  for (const key of keys.filter((candidate) => isHeaderOf(header, candidate, binding))) {
    const { atRest, atRestOfToken } = clientHandlesOf(key);
    const opened =
      (await openUnder(jwe, await atRest(), binding)) ?? (await openUnder(jwe, await atRestOfToken?.(), binding));
    if (opened !== undefined) return opened;
  }
  return undefined;
}

async function openUnder(
  jwe: string,
  root: webcrypto.CryptoKey | undefined,
  binding: AtRestBinding,
): Promise<Uint8Array | undefined> {
  if (root === undefined) return undefined;
  try {
    return (await compactDecrypt(jwe, await recordKey(root, binding, 'decrypt'), ONLY_AT_REST)).plaintext;
  } catch {
    // The tag does not match: the record was not written with this key. What exactly is wrong is never revealed.
    return undefined;
  }
}

type AtRestHeader = Readonly<Record<'alg' | 'enc' | 'kid' | 'merchant', string> & { generation: number }>;

function expectedHeader(key: ClientKey, { merchant, generation }: AtRestBinding): AtRestHeader {
  return { alg: DIRECT, enc: CONTENT_ENCRYPTION, kid: key.thumbprint, merchant, generation };
}

function readHeader(jwe: string): Readonly<Record<string, unknown>> | undefined {
  if (jwe.length > DEFAULT_MAX_JWE_BYTES) return undefined;
  try {
    const parts = splitCompact(jwe);
    checkContent(parts);
    return parseHeader(parts.header);
  } catch (error) {
    if (error instanceof BrokerError) return undefined;
    throw error;
  }
}

function isHeaderOf(
  header: Readonly<Record<string, unknown>> | undefined,
  key: ClientKey,
  binding: AtRestBinding,
): boolean {
  if (header === undefined) return false;
  const expected = Object.entries(expectedHeader(key, binding));
  return Object.keys(header).length === expected.length && expected.every(([name, value]) => header[name] === value);
}

async function recordKey(
  root: webcrypto.CryptoKey,
  { merchant, generation }: AtRestBinding,
  usage: webcrypto.KeyUsage,
): Promise<webcrypto.CryptoKey> {
  // JSON quotes the merchant id, so no two bindings can produce the same octets.
  const info = Buffer.from(JSON.stringify([LABEL, merchant, generation]), 'utf8');
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info };
  return crypto.subtle.deriveKey(derivation, root, { name: 'AES-GCM', length: 256 }, false, [usage]);
}
