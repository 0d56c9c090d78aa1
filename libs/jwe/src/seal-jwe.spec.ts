import type { webcrypto } from 'node:crypto';
import { jest } from '@jest/globals';
import fc from 'fast-check';
import { compactDecrypt, CompactEncrypt, type JWK } from 'jose';
import { eventually } from '#libs/testing';
import { clientKeyInCustody } from './client-key-in-custody.js';
import { clientHandlesOf, type ClientKey } from './client-key.js';
import { readCompactJwe } from './compact-jwe.js';
import { EphemeralKeys } from './ephemeral-keys.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey, importPaymentKey } from './import-key.js';
import { openAgreed } from './open-agreed.js';
import { openJwe } from './open-jwe.js';
import type { RecipientKey } from './recipient-key.js';
import { sealAgreed } from './seal-agreed.js';
import { sealJwe } from './seal-jwe.js';

/** The same key twice: in this process, and as if it were kept elsewhere. */
let keys: Readonly<Record<'here' | 'elsewhere', ClientKey>>;
let clientKey: ClientKey;
let recipient: RecipientKey;
let privateJwk: Record<string, string>;
let publicJwk: JWK;

beforeAll(async () => {
  const generated = await generateClientKey();
  privateJwk = generated.privateJwk;
  publicJwk = generated.publicJwk;
  clientKey = await importClientKey(privateJwk);
  const { custody } = clientHandlesOf(clientKey);
  keys = { here: clientKey, elsewhere: await clientKeyInCustody(clientKey.publicJwk, custody) };
  recipient = await importPaymentKey(publicJwk);
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

const PROFILE = { alg: 'ECDH-ES+A256KW', enc: 'A256GCM' } as const;
const ONLY_PROFILE = { keyManagementAlgorithms: [PROFILE.alg], contentEncryptionAlgorithms: [PROFILE.enc] };

const octets = fc.uint8Array({ maxLength: 2_000 });
const party = fc.option(fc.uint8Array({ minLength: 1, maxLength: 60 }), { nil: undefined });
/** They must differ, or jose does not seal (RFC 7518 section 4.6.2). */
const parties = fc
  .tuple(party, party)
  .filter(([apu, apv]) => apu === undefined || apv === undefined || Buffer.compare(apu, apv) !== 0);

describe.each(['here', 'elsewhere'] as const)('beside jose, with a key that is %s', (where) => {
  it('everything that jose seals is opened, whatever it says of the parties', async () => {
    await fc.assert(
      fc.asyncProperty(octets, parties, async (plaintext, [apu, apv]) => {
        const jwe = await new CompactEncrypt(plaintext)
          .setProtectedHeader({ ...PROFILE, kid: 'k1' })
          .setKeyManagementParameters({ ...(apu && { apu }), ...(apv && { apv }) })
          .encrypt(publicJwk);
        const opened = await openJwe(jwe, [keys[where]]);
        expect(Buffer.from(opened.plaintext).equals(plaintext)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('nothing is opened of what jose seals once a single bit of any part is another', async () => {
    const jwe = await new CompactEncrypt(Buffer.from('an opaque payload'))
      .setProtectedHeader(PROFILE)
      .setKeyManagementParameters({ apu: Buffer.from('gateway') })
      .encrypt(publicJwk);
    const parts = jwe.split('.').map((part) => Buffer.from(part, 'base64url'));
    const bit = fc.nat(4).chain((part) => fc.tuple(fc.constant(part), fc.nat((parts[part]?.length ?? 1) * 8 - 1)));
    await fc.assert(
      fc.asyncProperty(bit, async ([at, position]) => {
        const forged = parts.map((part, index) => (index === at ? withBitFlipped(part, position) : part));
        const attempt = openJwe(forged.map((part) => part.toString('base64url')).join('.'), [keys[where]]);
        await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/^jwe_/) });
      }),
      { numRuns: 120 },
    );
  });
});

describe('beside jose', () => {
  it('everything that is sealed is opened by it, held to the profile', async () => {
    await fc.assert(
      fc.asyncProperty(octets, async (plaintext) => {
        const opened = await compactDecrypt(await sealJwe(plaintext, recipient), privateJwk, ONLY_PROFILE);
        expect(Buffer.from(opened.plaintext).equals(plaintext)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

function withBitFlipped(part: Buffer, position: number): Buffer {
  const flipped = Buffer.from(part);
  flipped[position >> 3] = (flipped[position >> 3] ?? 0) ^ (1 << (position & 7));
  return flipped;
}

describe('ephemeral keys', () => {
  let made: jest.SpiedFunction<typeof crypto.subtle.generateKey>;
  beforeEach(() => {
    made = jest.spyOn(crypto.subtle, 'generateKey');
  });
  afterEach(() => made.mockRestore());

  /** Waits until nothing is generated any more: everything begun has ended, and nothing new has begun since. */
  const settled = async (): Promise<void> => {
    for (let begun = -1; begun !== made.mock.calls.length;) {
      begun = made.mock.calls.length;
      await Promise.allSettled(made.mock.results.map(({ value }) => value as Promise<unknown>));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it('are eight ahead of the one that is taken, and are replaced as they are taken', async () => {
    const keys = new EphemeralKeys();
    await keys.take();
    await settled();
    expect(made).toHaveBeenCalledTimes(9);
    for (let taken = 1; taken <= 20; taken += 1) {
      await keys.take();
      await settled();
      expect(made).toHaveBeenCalledTimes(9 + taken);
    }
  });

  it('are taken from those that are ready', async () => {
    const keys = new EphemeralKeys();
    await keys.take();
    await settled();
    const ready = await Promise.all(
      made.mock.results.map(async ({ value }) => ((await value) as webcrypto.CryptoKeyPair).privateKey),
    );
    expect(ready).toContain((await keys.take()).privateKey);
  });

  it('are made at once for a seal that finds none ready, however many fail while no seal waits for them', async () => {
    const keys = new EphemeralKeys();
    made.mockRejectedValue(new Error('no randomness, on purpose'));
    await expect(keys.take()).rejects.toThrow('no randomness');
    await settled();
    made.mockRestore();
    made = jest.spyOn(crypto.subtle, 'generateKey');
    await expect(keys.take()).resolves.toMatchObject({
      privateKey: { type: 'private', extractable: false, usages: ['deriveBits'] },
    });
    await eventually(() => made.mock.calls.length === 9);
  });
});

const COORDINATE = Buffer.alloc(48, 1).toString('base64url');
const epk = { kty: 'EC', crv: 'P-384', x: COORDINATE, y: COORDINATE } as const;
const secretOf = (octet: number): Uint8Array => new Uint8Array(48).fill(octet);
const erased = new Uint8Array(48);

describe('the secret of an agreement', () => {
  it('is all that opens what was sealed under it', () => {
    const jwe = readCompactJwe(sealAgreed(Buffer.from('payload'), { epk, secret: secretOf(7) }), 1_000);
    expect(openAgreed(jwe, secretOf(7))).toEqual(new Uint8Array(Buffer.from('payload')));
    expect(openAgreed(jwe, secretOf(8))).toBeUndefined();
  });

  it('is erased by the seal, and by an opening whether it opens or not', () => {
    const [sealing, opening, other] = [secretOf(7), secretOf(7), secretOf(8)];
    const jwe = readCompactJwe(sealAgreed(Buffer.from('payload'), { epk, secret: sealing }), 1_000);
    openAgreed(jwe, opening);
    openAgreed(jwe, other);
    expect([sealing, opening, other]).toEqual([erased, erased, erased]);
  });
});
