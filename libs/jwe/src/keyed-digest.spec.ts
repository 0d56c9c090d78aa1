import { createHmac, hkdfSync } from 'node:crypto';
import fc from 'fast-check';
import type { ClientKey } from './client-key.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey } from './import-key.js';
import { keyedDigest, keyedKey } from './keyed-digest.js';
import { importPaymentKey } from './import-key.js';
import { openJwe } from './open-jwe.js';
import { sealJwe } from './seal-jwe.js';

describe('a keyed digest', () => {
  let scalar: Buffer;
  let key: ClientKey;
  beforeAll(async () => {
    const { privateJwk } = await generateClientKey();
    scalar = Buffer.from(privateJwk['d'] ?? '', 'base64url');
    key = await importClientKey(privateJwk);
  });

  it('is an HMAC under a key of its own, derived from the private key', async () => {
    const derived = hkdfSync('sha256', scalar, '', JSON.stringify(['session-broker/digest/v1', 'shop']), 32);
    const expected = createHmac('sha256', Buffer.from(derived)).update('["a","b"]').digest('base64url');
    expect(await keyedDigest(key, 'shop', ['a', 'b'])).toBe(expected);
  });

  it('is the same for the same parts, and for no others', async () => {
    const parts = fc.array(fc.string(), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(parts, parts, async (some, others) => {
        const isSame = JSON.stringify(some) === JSON.stringify(others);
        expect((await keyedDigest(key, 'p', some)) === (await keyedDigest(key, 'p', others))).toBe(isSame);
      }),
    );
  });
});

describe('a key that is made from another', () => {
  it('is a key pair, the same for the same parts, and another for any others', async () => {
    const { privateJwk } = await generateClientKey();
    const [from, again] = await Promise.all([importClientKey(privateJwk), importClientKey(privateJwk)]);
    const made = await keyedKey(from, 'p', ['a']);
    const recipient = await importPaymentKey(made.publicJwk);
    const jwe = await sealJwe(Buffer.from('text'), recipient, { maxBytes: 100 });
    const same = await keyedKey(again, 'p', ['a']);
    expect(Buffer.from((await openJwe(jwe, [same], { maxBytes: 1_000 })).plaintext).toString()).toBe('text');
    const others = [keyedKey(from, 'p', ['b']), keyedKey(from, 'q', ['a'])];
    const all = [from, made, ...(await Promise.all(others))];
    expect(new Set(all.map(({ thumbprint }) => thumbprint)).size).toBe(4);
  });
});
