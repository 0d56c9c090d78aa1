import type { webcrypto } from 'node:crypto';
import { jest } from '@jest/globals';
import fc from 'fast-check';
import { compactDecrypt, CompactEncrypt, type JWK } from 'jose';
import { AgreementsAhead } from './agreements-ahead.js';
import { clientKeyInCustody } from './client-key-in-custody.js';
import { clientHandlesOf, type ClientKey } from './client-key.js';
import { readCompactJwe } from './compact-jwe.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey, importPaymentKey } from './import-key.js';
import { openAgreed } from './open-agreed.js';
import { openJwe } from './open-jwe.js';
import type { RecipientKey } from './recipient-key.js';
import { type Agreement, sealAgreed } from './seal-agreed.js';
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
  it('writes the header of the interface description and no more', async () => {
    const header = headerOf(await sealJwe(new Uint8Array(), recipient));
    expect(Object.keys(header).sort()).toEqual(['alg', 'enc', 'epk']);
    expect(header).toMatchObject({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM' });
    expect(Object.keys(header['epk'] as object).sort()).toEqual(['crv', 'kty', 'x', 'y']);
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

const COORDINATE = Buffer.alloc(48, 1).toString('base64url');
const epk = { kty: 'EC', crv: 'P-384', x: COORDINATE, y: COORDINATE } as const;
const secretOf = (octet: number): Uint8Array => new Uint8Array(48).fill(octet);
const erased = new Uint8Array(48);

const someone = (): webcrypto.CryptoKey => ({}) as webcrypto.CryptoKey;
type AgreeWith = (recipient: webcrypto.CryptoKey) => Promise<Agreement>;

describe('agreements that are made ahead', () => {
  const agreement = (): Agreement => ({ epk, secret: secretOf(7) });
  let made: jest.Mock<AgreeWith>;
  let agreements: AgreementsAhead;
  beforeEach(() => {
    made = jest.fn<AgreeWith>(() => Promise.resolve(agreement()));
    agreements = new AgreementsAhead(made);
  });

  it('are handed out once, each to whom it was made for, and another is made when there is none', async () => {
    const [recipient, other] = [someone(), someone()];
    await agreements.prepare(recipient);
    const ready: unknown = await made.mock.results[0]?.value;
    expect(await agreements.take(other)).not.toBe(ready);
    expect(await agreements.take(recipient)).toBe(ready);
    expect(await agreements.take(recipient)).not.toBe(ready);
    expect(made.mock.calls.map(([key]) => key === recipient)).toEqual([true, false, true]);
  });

  it('are eight at most, with those under way', async () => {
    const recipient = someone();
    await Promise.all(Array.from({ length: 12 }, () => agreements.prepare(recipient)));
    expect(made).toHaveBeenCalledTimes(8);
    await agreements.take(recipient);
    await agreements.prepare(recipient);
    await agreements.prepare(recipient);
    expect(made).toHaveBeenCalledTimes(9);
  });

  it('fail for nobody but who waits for one', async () => {
    const recipient = someone();
    made.mockRejectedValueOnce(new Error('no randomness, on purpose'));
    await expect(agreements.prepare(recipient)).resolves.toBeUndefined();
    made.mockRejectedValueOnce(new Error('none again'));
    await expect(agreements.take(recipient)).rejects.toThrow('none again');
    await agreements.prepare(recipient);
    await expect(agreements.take(recipient)).resolves.toEqual(agreement());
    expect(made).toHaveBeenCalledTimes(3);
  });
});

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
