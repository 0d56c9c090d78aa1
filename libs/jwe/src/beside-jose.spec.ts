import fc from 'fast-check';
import { CompactEncrypt, compactDecrypt, type JWK } from 'jose';
import type { ClientKey } from './client-key.js';
import { clientKeyInCustody } from './client-key-in-custody.js';
import { clientHandlesOf } from './client-key.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey, importServerKey } from './import-key.js';
import { openJwe } from './open-jwe.js';
import type { RecipientKey } from './recipient-key.js';
import { sealJwe } from './seal-jwe.js';

const PROFILE = { alg: 'ECDH-ES+A256KW', enc: 'A256GCM' } as const;
const ONLY_PROFILE = { keyManagementAlgorithms: [PROFILE.alg], contentEncryptionAlgorithms: [PROFILE.enc] };

/** The same key twice: in this process, and as if it were kept elsewhere. */
let keys: Readonly<Record<'here' | 'elsewhere', ClientKey>>;
let recipient: RecipientKey;
let privateJwk: JWK;
let publicJwk: JWK;

beforeAll(async () => {
  const generated = await generateClientKey();
  privateJwk = generated.privateJwk;
  publicJwk = generated.publicJwk;
  const here = await importClientKey(privateJwk);
  keys = { here, elsewhere: await clientKeyInCustody(here.publicJwk, clientHandlesOf(here).custody) };
  recipient = await importServerKey(publicJwk);
});

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
