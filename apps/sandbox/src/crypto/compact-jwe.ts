import { createCipheriv, createDecipheriv, createHash, diffieHellman, randomBytes, type KeyObject } from 'node:crypto';
import { BrokerError } from '#libs/errors';
import {
  decodeBase64url,
  encodeBase64url,
  generateKeyPair,
  readPublicKey,
  type KeyPair,
  type PublicKey,
} from './ec-key.js';

/*
 * ECDH-ES+A256KW with A256GCM, compact (RFC 7516, section 7.1; RFC 7518, sections 4.6 and 5.3), on node:crypto alone.
 * The broker deliberately seals and opens with different code: if the two agree, neither has an error that the other
 * lacks.
 */
const ALGORITHM = 'ECDH-ES+A256KW';
const ENCRYPTION = 'A256GCM';
const KEY_BITS = 256;
const IV_OCTETS = 12;
const TAG_OCTETS = 16;
const NOTHING = Buffer.alloc(0);

interface Agreement {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly partyU: Uint8Array;
  readonly partyV: Uint8Array;
}

/** Encrypts `plaintext` (UTF-8 if it is text) so that only the owner of `recipient` can read it. */
export function sealCompact(plaintext: Uint8Array | string, recipient: PublicKey): string {
  const ephemeral = generateKeyPair();
  const { kty, crv, x, y } = ephemeral.jwk;
  const header = encodeBase64url(JSON.stringify({ alg: ALGORITHM, enc: ENCRYPTION, epk: { kty, x, y, crv } }));
  const contentKey = randomBytes(KEY_BITS / 8);
  const iv = randomBytes(IV_OCTETS);
  const wrapped = wrapKey(
    keyEncryptionKey({
      privateKey: ephemeral.privateKey,
      publicKey: recipient.key,
      partyU: NOTHING,
      partyV: NOTHING,
    }),
    contentKey,
  );
  const cipher = createCipheriv('aes-256-gcm', contentKey, iv, { authTagLength: TAG_OCTETS });
  cipher.setAAD(Buffer.from(header, 'ascii'));
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(plaintext)), cipher.final()]);
  return [header, ...[wrapped, iv, ciphertext, cipher.getAuthTag()].map(encodeBase64url)].join('.');
}

/**
 * Decrypts what was sealed for `own`.
 * @throws BrokerError `jwe_malformed` or `jwe_algorithm_refused` for what can be judged without the key, else
 *   `jwe_not_opened`
 */
export function openCompact(compact: string, own: KeyPair): Buffer {
  const [header = '', ...rest] = compact.split('.');
  const [wrapped, iv, ciphertext, tag] = rest.map(decodeBase64url);
  if (rest.length !== 4 || wrapped === undefined || ciphertext === undefined) throw malformed('five base64url parts');
  if (iv?.length !== IV_OCTETS || tag?.length !== TAG_OCTETS) throw malformed('a 96-bit iv and a 128-bit tag');
  const agreement = agreementOf(headerOf(header), own);
  try {
    const contentKey = unwrapKey(keyEncryptionKey(agreement), wrapped);
    const decipher = createDecipheriv('aes-256-gcm', contentKey, iv, { authTagLength: TAG_OCTETS });
    decipher.setAAD(Buffer.from(header, 'ascii'));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch (error) {
    throw new BrokerError('jwe_not_opened', { cause: error });
  }
}

function keyEncryptionKey({ privateKey, publicKey, partyU, partyV }: Agreement): Buffer {
  const sharedSecret = diffieHellman({ privateKey, publicKey });
  return concatKdf({ sharedSecret, algorithm: ALGORITHM, partyU, partyV, keyBits: KEY_BITS });
}

function agreementOf(header: Readonly<Record<string, unknown>>, own: KeyPair): Agreement {
  if (header['alg'] !== ALGORITHM || header['enc'] !== ENCRYPTION) {
    throw new BrokerError('jwe_algorithm_refused', { publicDetail: `only ${ALGORITHM} with ${ENCRYPTION} is opened` });
  }
  if ('zip' in header || 'crit' in header) throw malformed('a header without "zip" and "crit"');
  return {
    privateKey: own.privateKey,
    publicKey: readPublicKey(header['epk']).key,
    partyU: partyInfo(header['apu']),
    partyV: partyInfo(header['apv']),
  };
}

function headerOf(encoded: string): Readonly<Record<string, unknown>> {
  const octets = decodeBase64url(encoded);
  try {
    const header: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(octets));
    if (typeof header === 'object' && header !== null) return header as Record<string, unknown>;
  } catch (error) {
    throw malformed('a JSON object as its protected header', error);
  }
  throw malformed('a JSON object as its protected header');
}

function partyInfo(value: unknown): Uint8Array {
  if (value === undefined) return NOTHING;
  const octets = typeof value === 'string' ? decodeBase64url(value) : undefined;
  if (octets === undefined) throw malformed('"apu" and "apv" in base64url');
  return octets;
}

function malformed(due: string, cause?: unknown): BrokerError {
  return new BrokerError('jwe_malformed', { publicDetail: `a JWE of this interface has ${due}`, cause });
}

interface ConcatKdfInput {
  /** Z: the x coordinate from the key agreement, with its leading zero octets. */
  readonly sharedSecret: Uint8Array;
  /** AlgorithmID: the `alg` when the key wraps another one, the `enc` when it encrypts the content itself. */
  readonly algorithm: string;
  readonly partyU: Uint8Array;
  readonly partyV: Uint8Array;
  readonly keyBits: number;
}

/** Concat KDF with SHA-256 (NIST SP 800-56A, section 5.8.1) in the form that RFC 7518, section 4.6.2 prescribes. */
function concatKdf(input: ConcatKdfInput): Buffer {
  const otherInfo = Buffer.concat([
    lengthPrefixed(Buffer.from(input.algorithm, 'ascii')),
    lengthPrefixed(input.partyU),
    lengthPrefixed(input.partyV),
    uint32(input.keyBits),
  ]);
  const rounds = Math.ceil(input.keyBits / 256);
  const blocks = Array.from({ length: rounds }, (_, index) =>
    createHash('sha256')
      .update(uint32(index + 1))
      .update(input.sharedSecret)
      .update(otherInfo)
      .digest(),
  );
  return Buffer.concat(blocks).subarray(0, input.keyBits / 8);
}

function lengthPrefixed(octets: Uint8Array): Buffer {
  return Buffer.concat([uint32(octets.length), octets]);
}

function uint32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}

/** The default initial value of RFC 3394, section 2.2.3.1: finding it again proves that key and text are intact. */
const INITIAL_VALUE = Buffer.alloc(8, 0xa6);

/** AES-256 key wrap (RFC 3394): the result is eight octets longer than the input. */
function wrapKey(keyEncryptionKey: Uint8Array, key: Uint8Array): Buffer {
  const cipher = createCipheriv('id-aes256-wrap', keyEncryptionKey, INITIAL_VALUE);
  return Buffer.concat([cipher.update(key), cipher.final()]);
}

/** @throws Error of node:crypto when the wrapped key was made with another key or was altered */
function unwrapKey(keyEncryptionKey: Uint8Array, wrapped: Uint8Array): Buffer {
  const decipher = createDecipheriv('id-aes256-wrap', keyEncryptionKey, INITIAL_VALUE);
  return Buffer.concat([decipher.update(wrapped), decipher.final()]);
}
