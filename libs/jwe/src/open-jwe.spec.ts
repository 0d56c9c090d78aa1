import { BrokerError } from '#libs/errors';
import { CompactEncrypt, compactDecrypt, type JWK } from 'jose';
import type { ClientKey } from './client-key.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey, importServerKey } from './import-key.js';
import { openJwe } from './open-jwe.js';
import type { RecipientKey } from './recipient-key.js';
import { sealJwe } from './seal-jwe.js';

type Header = Record<string, unknown>;

const PLAINTEXT = Buffer.from('{"authToken":"8c0f…"}');
const P256 = { kty: 'EC', crv: 'P-256', x: 'weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ' } as const;
const b64 = (octets: Uint8Array): string => Buffer.from(octets).toString('base64url');
const zeros = (count: number): string => b64(new Uint8Array(count));

let clientKey: ClientKey;
let recipient: RecipientKey;
let publicJwk: Record<string, string>;
let privateJwk: Record<string, string>;
let jwe: string;

beforeAll(async () => {
  ({ publicJwk, privateJwk } = await generateClientKey());
  clientKey = await importClientKey(privateJwk);
  recipient = await importServerKey(publicJwk);
  jwe = await sealJwe(PLAINTEXT, recipient);
});

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => 'opened',
    (caught: unknown) => caught,
  );
  if (error instanceof BrokerError) return error.code;
  if (error === 'opened') return error;
  throw error;
}

/** Replaces one of the five parts. */
function withPart(index: number, change: (part: string) => string): string {
  return jwe
    .split('.')
    .map((part, at) => (at === index ? change(part) : part))
    .join('.');
}
const withRawHeader = (octets: Uint8Array | string): string => withPart(0, () => b64(Buffer.from(octets)));
const withHeader = (change: (header: Header) => unknown): string =>
  withPart(0, (part) =>
    b64(Buffer.from(JSON.stringify(change(JSON.parse(Buffer.from(part, 'base64url').toString()) as Header)))),
  );
const withEpk = (change: (epk: Header) => unknown): string =>
  withHeader((header) => ({ ...header, epk: change(header['epk'] as Header) }));
const flipped = (part: string, at = 0): string => {
  const octets = Buffer.from(part, 'base64url');
  octets[at] = (octets[at] ?? 0) ^ 1;
  return b64(octets);
};
const shortened = (octets: number) => (part: string) => b64(Buffer.from(part, 'base64url').subarray(0, octets));

describe('opening a JWE', () => {
  it('gives the plaintext and the key that opened it', async () => {
    const opened = await openJwe(jwe, [clientKey]);
    expect(Buffer.from(opened.plaintext)).toEqual(PLAINTEXT);
    expect(opened.thumbprint).toBe(clientKey.thumbprint);
  });

  it('tries every configured key, and says which one it was', async () => {
    const newer = await importClientKey((await generateClientKey()).privateJwk);
    await expect(openJwe(jwe, [newer, clientKey])).resolves.toMatchObject({ thumbprint: clientKey.thumbprint });
    expect(await codeOf(openJwe(jwe, [newer]))).toBe('jwe_not_opened');
    expect(await codeOf(openJwe(jwe, []))).toBe('jwe_not_opened');
  });

  it('accepts header members that change nothing', async () => {
    const labelled = await new CompactEncrypt(PLAINTEXT)
      .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', kid: 'k', typ: 'JWE', cty: 'application/json' })
      .setKeyManagementParameters({ apu: Buffer.from('gateway'), apv: Buffer.from('merchant') })
      .encrypt(publicJwk);
    await expect(openJwe(labelled, [clientKey])).resolves.toHaveProperty('thumbprint', clientKey.thumbprint);
  });

  it('looks at nothing longer than the bound, to the byte', async () => {
    await expect(openJwe(jwe, [clientKey], { maxBytes: jwe.length })).resolves.toBeDefined();
    expect(await codeOf(openJwe(jwe, [clientKey], { maxBytes: jwe.length - 1 }))).toBe('jwe_too_large');
    expect(await codeOf(openJwe('A'.repeat(65_537), [clientKey]))).toBe('jwe_too_large');
    expect(await codeOf(openJwe('A'.repeat(65_536), [clientKey]))).toBe('jwe_malformed');
  });
});

const malformed: readonly [string, () => string][] = [
  ['the empty text', () => ''],
  ['no JWE at all', () => 'Service unavailable'],
  ['four parts', () => jwe.split('.').slice(0, 4).join('.')],
  ['six parts', () => `${jwe}.AAAA`],
  ['an empty header', () => withPart(0, () => '')],
  ['a newline at the end', () => `${jwe}\n`],
  ['a newline inside the ciphertext', () => withPart(3, (part) => `${part.slice(0, 4)}\n${part.slice(4)}`)],
  ['a space in front', () => ` ${jwe}`],
  ['padding', () => `${jwe}==`],
  ['the other base64 alphabet', () => withPart(3, (part) => `+/${part.slice(2)}`)],
  ['unused bits that are set at the end of the tag', () => withPart(4, (part) => `${part.slice(0, -1)}B`)],
  ['no tag', () => withPart(4, () => '')],
  ['no initialization vector', () => withPart(2, () => '')],
  ['no encrypted key', () => withPart(1, () => '')],
  ['an encrypted key of 41 octets', () => withPart(1, () => zeros(41))],
  ['a header that nests deeply', () => withRawHeader('['.repeat(1_000))],
  ['a header that is not UTF-8', () => withRawHeader(Buffer.of(0x7b, 0x22, 0xff, 0x22, 0x7d))],
  ['a header that is null', () => withHeader(() => null)],
  ['a critical extension', () => withHeader((header) => ({ ...header, crit: ['exp'], exp: 1 }))],
  ['a key of the sender', () => withHeader((header) => ({ ...header, jwk: publicJwk }))],
  ['an address of keys', () => withHeader((header) => ({ ...header, jku: 'https://attacker.example/' }))],
  ['an address of certificates', () => withHeader((header) => ({ ...header, x5u: 'https://attacker.example/' }))],
  ['certificates of the sender', () => withHeader((header) => ({ ...header, x5c: ['MII'] }))],
  ['no epk', () => withEpk(() => undefined)],
  ['an epk that is an array', () => withEpk((epk) => [epk])],
  ['an epk that is null', () => withEpk(() => null)],
  ['an epk that claims P-384 with coordinates of P-256', () => withEpk(() => ({ ...P256, crv: 'P-384', y: P256.x }))],
  ['an epk without y', () => withEpk((epk) => ({ ...epk, y: undefined }))],
  ['an epk whose x is a number', () => withEpk((epk) => ({ ...epk, x: 1 }))],
  ['a producer info that is not text', () => withHeader((header) => ({ ...header, apu: { a: 1 } }))],
  ['a recipient info that is not base64url', () => withHeader((header) => ({ ...header, apv: 'Zg==' }))],
];

const notOpened: readonly [string, () => string][] = [
  ['an epk off the curve', () => withEpk((epk) => ({ ...epk, x: epk['y'], y: epk['x'] }))],
  ['the zero point as epk', () => withEpk((epk) => ({ ...epk, x: zeros(48), y: zeros(48) }))],
  ['an epk beyond the field', () => withEpk((epk) => ({ ...epk, x: '_'.repeat(64) }))],
  ['the epk of somebody else', () => withEpk((epk) => ({ ...epk, x: publicJwk['x'], y: publicJwk['y'] }))],
  ['a changed header', () => withHeader((header) => ({ ...header, kid: 'other' }))],
  ['a changed order of the header', () => withHeader((header) => ({ epk: header['epk'], ...header }))],
  ['a changed encrypted key', () => withPart(1, (part) => flipped(part))],
  ['an encrypted key of zeros', () => withPart(1, () => zeros(40))],
  ['a changed initialization vector', () => withPart(2, (part) => flipped(part, 11))],
  ['a changed ciphertext', () => withPart(3, (part) => flipped(part))],
  ['a shortened ciphertext', () => withPart(3, shortened(3))],
  ['no ciphertext', () => withPart(3, () => '')],
  ['a changed tag', () => withPart(4, (part) => flipped(part, 15))],
];

describe('a JWE that is malformed', () => {
  it.each(malformed)('is refused before any cryptography: %s', async (_name, forge) => {
    expect(await codeOf(openJwe(forge(), [clientKey]))).toBe('jwe_malformed');
  });
});

describe('a JWE that does not open', () => {
  it.each(notOpened)('fails like every other: %s', async (_name, forge) => {
    const error: unknown = await openJwe(forge(), [clientKey]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BrokerError);
    expect(error).toMatchObject({ code: 'jwe_not_opened', cause: undefined });
    const { message } = (await openJwe(jwe, []).catch((caught: unknown) => caught)) as BrokerError;
    expect((error as BrokerError).message).toBe(message);
    expect(error).toHaveProperty('publicDetail', 'it is damaged, or sealed to another key');
  });
});

/** Without `alg`, so that the library accepts another one. */
const publicKey = (): JWK => ({ kty: 'EC', crv: 'P-384', x: publicJwk['x'] ?? '', y: publicJwk['y'] ?? '' });

describe('a JWE of another algorithm', () => {
  const kek = new Uint8Array(32);
  const oct = { kty: 'oct', k: b64(kek) };
  const genuine: readonly [string, { alg: string; enc: string }, () => JWK][] = [
    ['key wrapping of 128 bits', { alg: 'ECDH-ES+A128KW', enc: 'A256GCM' }, () => publicKey()],
    ['direct key agreement', { alg: 'ECDH-ES', enc: 'A256GCM' }, () => publicKey()],
    ['content encryption of 128 bits', { alg: 'ECDH-ES+A256KW', enc: 'A128GCM' }, () => publicKey()],
    ['content encryption in CBC mode', { alg: 'ECDH-ES+A256KW', enc: 'A256CBC-HS512' }, () => publicKey()],
    ['a shared key', { alg: 'dir', enc: 'A256GCM' }, () => oct],
    ['key wrapping without agreement', { alg: 'A256KW', enc: 'A256GCM' }, () => oct],
    ['a password', { alg: 'PBES2-HS256+A128KW', enc: 'A256GCM' }, () => oct],
  ];

  it.each(genuine)('is refused although it is genuine: %s', async (_name, header, key) => {
    const sealed = await new CompactEncrypt(PLAINTEXT).setProtectedHeader(header).encrypt(key());
    expect(await codeOf(openJwe(sealed, [clientKey]))).toBe('jwe_algorithm_refused');
  });

  it('is refused although it is genuine: compressed', async () => {
    const sealed = await new CompactEncrypt(Buffer.alloc(200_000))
      .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', zip: 'DEF' })
      .encrypt(publicJwk);
    await expect(compactDecrypt(sealed, privateJwk)).resolves.toBeDefined();
    expect(await codeOf(openJwe(sealed, [clientKey]))).toBe('jwe_algorithm_refused');
  });

  it.each([
    ['no alg', (header: Header) => ({ ...header, alg: undefined })],
    ['a list of algs', (header: Header) => ({ ...header, alg: ['ECDH-ES+A256KW'] })],
    ['alg in lower case', (header: Header) => ({ ...header, alg: 'ecdh-es+a256kw' })],
    ['alg none', (header: Header) => ({ ...header, alg: 'none' })],
    ['no enc', (header: Header) => ({ ...header, enc: undefined })],
    ['an empty zip', (header: Header) => ({ ...header, zip: '' })],
  ])('is refused: %s', async (_name, change) => {
    expect(await codeOf(openJwe(withHeader(change), [clientKey]))).toBe('jwe_algorithm_refused');
  });
});
