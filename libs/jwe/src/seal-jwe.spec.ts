import fc from 'fast-check';
import { compactDecrypt } from 'jose';
import type { ClientKey } from './client-key.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey, importPaymentKey } from './import-key.js';
import { openJwe } from './open-jwe.js';
import type { RecipientKey } from './recipient-key.js';
import { sealJwe } from './seal-jwe.js';

let clientKey: ClientKey;
let recipient: RecipientKey;
let privateJwk: Record<string, string>;

beforeAll(async () => {
  const generated = await generateClientKey();
  privateJwk = generated.privateJwk;
  clientKey = await importClientKey(privateJwk);
  recipient = await importPaymentKey(generated.publicJwk);
});

const headerOf = (jwe: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(jwe.split('.')[0] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('sealing a JWE', () => {
  it('gives back what was sealed, for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 4_096 }), async (plaintext) => {
        const opened = await openJwe(await sealJwe(plaintext, recipient), [clientKey]);
        expect(Buffer.from(opened.plaintext).equals(plaintext)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('never opens again once any single character is another', async () => {
    const jwe = await sealJwe(Buffer.from('an opaque payload'), recipient);
    const other = fc.constantFrom(...'AZaz09-_.=+ \n');
    await fc.assert(
      fc.asyncProperty(fc.nat(jwe.length - 1), other, async (at, character) => {
        fc.pre(jwe[at] !== character);
        const forged = `${jwe.slice(0, at)}${character}${jwe.slice(at + 1)}`;
        await expect(openJwe(forged, [clientKey])).rejects.toMatchObject({ code: expect.stringMatching(/^jwe_/) });
      }),
      { numRuns: 150 },
    );
  });

  it('writes the header of the interface description and no more', async () => {
    const header = headerOf(await sealJwe(new Uint8Array(), recipient));
    expect(Object.keys(header).sort()).toEqual(['alg', 'enc', 'epk']);
    expect(header).toMatchObject({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM' });
    expect(Object.keys(header['epk'] as object).sort()).toEqual(['crv', 'kty', 'x', 'y']);
  });

  it('is read by a plain JOSE library with the private JWK', async () => {
    const { plaintext } = await compactDecrypt(await sealJwe(Buffer.from('žluťoučký 🐎'), recipient), privateJwk);
    expect(Buffer.from(plaintext).toString()).toBe('žluťoučký 🐎');
  });

  it('uses an ephemeral key, a content key and a vector once, also under load', async () => {
    const jwes = await Promise.all(Array.from({ length: 60 }, () => sealJwe(Buffer.from('same'), recipient)));
    const distinct = (of: (jwe: string) => string): number => new Set(jwes.map(of)).size;
    expect(distinct((jwe) => (headerOf(jwe)['epk'] as { x: string }).x)).toBe(60);
    expect(distinct((jwe) => jwe.split('.')[1] ?? '')).toBe(60);
    expect(distinct((jwe) => jwe.split('.')[2] ?? '')).toBe(60);
  });

  it('seals nothing longer than the bound, to the byte', async () => {
    await expect(sealJwe(new Uint8Array(65_536), recipient)).resolves.toBeDefined();
    await expect(sealJwe(new Uint8Array(65_537), recipient)).rejects.toMatchObject({ code: 'jwe_too_large' });
    await expect(sealJwe(new Uint8Array(5), recipient, { maxBytes: 4 })).rejects.toThrow(/at most 4 bytes/);
  });
});
