import { hkdfSync, type webcrypto } from 'node:crypto';
import { jest } from '@jest/globals';
import { CompactEncrypt, compactDecrypt } from 'jose';
import fc from 'fast-check';
import { openAtRest, sealAtRest } from './at-rest.js';
import type { ClientKey } from './client-key.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey } from './import-key.js';

const RECORD = Buffer.from('{"authToken":"2b0c"}');
const BINDING = { merchant: 'shop', generation: 1_795_000_000_000 };

let scalar: Buffer;
let key: ClientKey;
let older: ClientKey;
let record: string;

beforeAll(async () => {
  const { privateJwk } = await generateClientKey();
  scalar = Buffer.from(privateJwk['d'] ?? '', 'base64url');
  key = await importClientKey(privateJwk);
  older = await importClientKey((await generateClientKey()).privateJwk);
  record = await sealAtRest(RECORD, key, BINDING);
});

/** The same derivation by another function of the runtime. */
const derived = (merchant: string, generation: number): Uint8Array =>
  new Uint8Array(
    hkdfSync('sha256', scalar, '', JSON.stringify(['session-broker/at-rest/v1', merchant, generation]), 32),
  );

const text = (plaintext: Uint8Array | undefined): string | undefined =>
  plaintext === undefined ? undefined : Buffer.from(plaintext).toString();

describe('a record at rest', () => {
  it('opens for its merchant and generation, for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 2_000 }),
        fc.string(),
        fc.nat(),
        async (bytes, merchant, generation) => {
          const binding = { merchant, generation };
          const opened = await openAtRest(await sealAtRest(bytes, key, binding), [key], binding);
          expect(opened !== undefined && Buffer.from(opened).equals(bytes)).toBe(true);
        },
      ),
    );
  });

  it('opens after a rotation, as long as the key that sealed it is configured', async () => {
    const byOlder = await sealAtRest(RECORD, older, BINDING);
    expect(text(await openAtRest(byOlder, [key, older], BINDING))).toBe(RECORD.toString());
    expect(await openAtRest(byOlder, [key], BINDING)).toBeUndefined();
    expect(await openAtRest(byOlder, [], BINDING)).toBeUndefined();
  });

  it('does not open for another merchant or generation', async () => {
    expect(await openAtRest(record, [key], { ...BINDING, merchant: 'shop2' })).toBeUndefined();
    expect(await openAtRest(record, [key], { ...BINDING, generation: BINDING.generation + 1 })).toBeUndefined();
  });

  it('does not open under the right derived key when the header claims another binding', async () => {
    const sealed = await new CompactEncrypt(RECORD)
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: key.thumbprint, merchant: 'other', generation: 7 })
      .encrypt(derived('shop', 7));
    expect(await openAtRest(sealed, [key], { merchant: 'shop', generation: 7 })).toBeUndefined();
  });

  it('is sealed under HKDF-SHA-256 of the private scalar, bound to merchant and generation', async () => {
    const { plaintext } = await compactDecrypt(record, derived(BINDING.merchant, BINDING.generation));
    expect(text(plaintext)).toBe(RECORD.toString());
    await expect(compactDecrypt(record, derived(BINDING.merchant, BINDING.generation + 1))).rejects.toThrow();
  });

  it('shows nothing of its plaintext, and two seals of it share nothing but the header', async () => {
    const again = await sealAtRest(RECORD, key, BINDING);
    const [header, ...rest] = record.split('.');
    expect(again.split('.')[0]).toBe(header);
    expect(rest.filter((part) => part !== '' && again.includes(part))).toEqual([]);
    expect(Buffer.from(header ?? '', 'base64url').toString()).not.toContain('2b0c');
  });

  it.each([
    ['text that is not a JWE', () => '{"authToken":"in clear"}'],
    ['a changed tag', () => `${record.slice(0, -2)}${record.endsWith('AA') ? 'QA' : 'AA'}`],
    ['an added encrypted key', () => record.replace('..', '.AAAA.')],
    ['another algorithm', () => withHeader((header) => ({ ...header, alg: 'ECDH-ES+A256KW' }))],
    [
      'a generation that is text',
      () => withHeader((header) => ({ ...header, generation: String(BINDING.generation) })),
    ],
  ])('is absent when it is damaged: %s', async (_name, forge) => {
    expect(await openAtRest(forge(), [key], BINDING)).toBeUndefined();
  });

  it('is absent when its header has one member more than ours, however genuine it is', async () => {
    const header = { alg: 'dir', enc: 'A256GCM', kid: key.thumbprint, ...BINDING };
    const sealed = (members: object): Promise<string> =>
      new CompactEncrypt(RECORD)
        .setProtectedHeader({ ...header, ...members })
        .encrypt(derived(BINDING.merchant, BINDING.generation));
    expect(text(await openAtRest(await sealed({}), [key], BINDING))).toBe(RECORD.toString());
    expect(await openAtRest(await sealed({ cty: 'JSON' }), [key], BINDING)).toBeUndefined();
  });

  it('is absent when it says the same in other characters', async () => {
    const parts = record.split('.');
    const [header, , iv, ciphertext = '', tag = ''] = parts;
    const octets = Buffer.concat([Buffer.from(ciphertext, 'base64url'), Buffer.from(tag, 'base64url')]);
    const cut = (at: number): string[] =>
      [octets.subarray(0, at), octets.subarray(at)].map((part) => part.toString('base64url'));
    expect([header, '', iv, ...cut(octets.length - 16)].join('.')).toBe(record);
    expect(await openAtRest([header, '', iv, ...cut(octets.length - 15)].join('.'), [key], BINDING)).toBeUndefined();
    // The last character of 20 octets has two bits that are never read.
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.indexOf(ciphertext.slice(-1));
    const twin = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.charAt(last + 1);
    const respelt = [header, '', iv, `${ciphertext.slice(0, -1)}${twin}`, tag].join('.');
    expect(Buffer.from(respelt.split('.')[3] ?? '', 'base64url')).toEqual(Buffer.from(ciphertext, 'base64url'));
    expect(await openAtRest(respelt, [key], BINDING)).toBeUndefined();
  });

  it('is read up to the bound of any JWE, to the character', async () => {
    const binding = { merchant: 'shop', generation: 1 };
    const sealed = (bytes: number): Promise<string> =>
      new CompactEncrypt(new Uint8Array(bytes))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: key.thumbprint, ...binding })
        .encrypt(derived('shop', 1));
    const [longest, longer] = await Promise.all([sealed(49_006), sealed(49_007)]);
    expect([longest.length, longer.length]).toEqual([65_536, 65_537]);
    expect((await openAtRest(longest, [key], binding))?.byteLength).toBe(49_006);
    expect(await openAtRest(longer, [key], binding)).toBeUndefined();
  });

  it('is sealed and opened under keys that cannot be extracted', async () => {
    const derive = jest.spyOn(crypto.subtle, 'deriveKey');
    await openAtRest(await sealAtRest(RECORD, key, BINDING), [key], BINDING);
    const keys = await Promise.all(derive.mock.results.map(({ value }) => value as Promise<webcrypto.CryptoKey>));
    derive.mockRestore();
    expect(keys.map(({ extractable, usages }) => ({ extractable, usages }))).toEqual([
      { extractable: false, usages: ['encrypt'] },
      { extractable: false, usages: ['decrypt'] },
    ]);
  });

  it('is not sealed when it would be too long to be opened again', async () => {
    const longest = await sealAtRest(new Uint8Array(32_768), key, BINDING);
    expect((await openAtRest(longest, [key], BINDING))?.byteLength).toBe(32_768);
    await expect(sealAtRest(new Uint8Array(32_769), key, BINDING)).rejects.toMatchObject({ code: 'jwe_too_large' });
  });
});

function withHeader(change: (header: Record<string, unknown>) => unknown): string {
  const [header, ...rest] = record.split('.');
  const changed = change(JSON.parse(Buffer.from(header ?? '', 'base64url').toString()) as Record<string, unknown>);
  return [Buffer.from(JSON.stringify(changed)).toString('base64url'), ...rest].join('.');
}
