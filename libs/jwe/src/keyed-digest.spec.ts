import { createHmac, hkdfSync } from 'node:crypto';
import fc from 'fast-check';
import type { ClientKey } from './client-key.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey } from './import-key.js';
import { keyedDigest } from './keyed-digest.js';

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

  it('differs for another purpose, and under another key', async () => {
    const other = await importClientKey((await generateClientKey()).privateJwk);
    const digests = [keyedDigest(key, 'p', ['a']), keyedDigest(key, 'q', ['a']), keyedDigest(other, 'p', ['a'])];
    expect(new Set(await Promise.all(digests)).size).toBe(3);
  });
});
