import { generateKeyPairSync } from 'node:crypto';
import { concatKdf, openCompact, sealCompact, unwrapKey, wrapKey } from './compact-jwe.js';
import { generateKeyPair, readPrivateKey, readPublicKey } from './ec-key.js';

describe('Concat KDF', () => {
  it('derives the key of RFC 7518, appendix C', () => {
    // prettier-ignore
    const sharedSecret = Buffer.from([
      158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156,
      251, 49, 110, 163, 218, 128, 106, 72, 246, 218, 167, 121, 140, 254, 144, 196,
    ]);
    const derived = concatKdf({
      sharedSecret,
      algorithm: 'A128GCM',
      partyU: Buffer.from('Alice'),
      partyV: Buffer.from('Bob'),
      keyBits: 128,
    });
    expect(derived.toString('base64url')).toBe('VqqN6vgjbSBcIijNcacQGg');
  });
});

describe('AES key wrap', () => {
  const keyEncryptionKey = Buffer.from('000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F', 'hex');
  const key = Buffer.from('00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F', 'hex');

  it('wraps as RFC 3394, section 4.6 does', () => {
    expect(wrapKey(keyEncryptionKey, key).toString('hex').toUpperCase()).toBe(
      '28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21',
    );
  });

  it('refuses a wrapped key of which one bit was changed', () => {
    const wrapped = wrapKey(keyEncryptionKey, key);
    wrapped[9] = (wrapped[9] ?? 0) ^ 1;
    expect(() => unwrapKey(keyEncryptionKey, wrapped)).toThrow();
  });
});

describe('compact JWE', () => {
  const own = generateKeyPair();

  /**
   * The same JWE with a different protected header; the header is authenticated, so only early refusals can be told
   * apart.
   */
  const withHeader = (change: (header: Record<string, unknown>) => void): string => {
    const [header = '', ...rest] = sealCompact('text', own).split('.');
    const members = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, unknown>;
    change(members);
    return [Buffer.from(JSON.stringify(members)).toString('base64url'), ...rest].join('.');
  };

  it.each([0, 17, 65_536])('opens what it sealed, of %i octets', (length) => {
    const plaintext = Buffer.alloc(length, 0xe2);
    expect(openCompact(sealCompact(plaintext, own), own).equals(plaintext)).toBe(true);
  });

  it('names alg, enc and the ephemeral key in the header, in the order of the interface description', () => {
    const [header = ''] = sealCompact('text', own).split('.');
    const members = JSON.parse(Buffer.from(header, 'base64url').toString()) as { epk: object };
    expect(members).toMatchObject({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM' });
    expect(Object.keys(members.epk)).toEqual(['kty', 'x', 'y', 'crv']);
  });

  it('does not open what was sealed for another key', () => {
    expect(() => openCompact(sealCompact('text', generateKeyPair()), own)).toThrow(
      expect.objectContaining({ code: 'jwe_not_opened' }),
    );
  });

  it.each([0, 1, 2, 3, 4])('does not open a JWE whose part %i was changed', (index) => {
    const parts = sealCompact('a longer text, so that every part can be changed', own).split('.');
    const part = parts[index] ?? '';
    parts[index] = (part.startsWith('A') ? 'B' : 'A') + part.slice(1);
    expect(() => openCompact(parts.join('.'), own)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^jwe_/) }),
    );
  });

  it.each<[string, string, (header: Record<string, unknown>) => void]>([
    ['another enc', 'jwe_algorithm_refused', (header) => (header['enc'] = 'A128GCM')],
    ['party information that is not base64url', 'jwe_malformed', (header) => (header['apu'] = '%')],
    ['party information that the sealer did not use', 'jwe_not_opened', (header) => (header['apu'] = 'QWxpY2U')],
  ])('refuses a header with %s', (_name, code, change) => {
    expect(() => openCompact(withHeader(change), own)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['a header that is not JSON', 'e30x.AA.AAAAAAAAAAAAAAAA..AAAAAAAAAAAAAAAAAAAAAA'],
    ['a null header', `${Buffer.from('null').toString('base64url')}.AA.AAAAAAAAAAAAAAAA..AAAAAAAAAAAAAAAAAAAAAA`],
    ['a short tag', 'e30.AA.AAAAAAAAAAAAAAAA.AA.AAAA'],
  ])('calls %s malformed', (_name, compact) => {
    expect(() => openCompact(compact, own)).toThrow(expect.objectContaining({ code: 'jwe_malformed' }));
  });
});

describe('keys', () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ format: 'jwk' });
  const { d, ...publicJwk } = pair;

  it('reads a public and a private P-384 key, with or without use and alg', () => {
    expect(readPublicKey(publicJwk).jwk).toEqual({ kty: 'EC', crv: 'P-384', x: pair.x, y: pair.y });
    expect(readPublicKey({ ...publicJwk, use: 'enc', alg: 'ECDH-ES+A256KW' }).jwk.x).toBe(pair.x);
    expect(readPrivateKey(pair).jwk.x).toBe(pair.x);
  });

  const flipped = Buffer.from(pair.y ?? '', 'base64url');
  flipped[47] = (flipped[47] ?? 0) ^ 1;
  const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ format: 'jwk' });

  it.each<[string, unknown]>([
    ['text', 'key'],
    ['a private key', pair],
    ['another type', { ...publicJwk, kty: 'OKP' }],
    ['another curve', { ...publicJwk, crv: 'P-256' }],
    ['another use', { ...publicJwk, use: 'sig' }],
    ['another algorithm', { ...publicJwk, alg: 'ECDH-ES' }],
    ['a short coordinate', { ...publicJwk, x: 'AAAA' }],
    ['a padded coordinate', { ...publicJwk, x: `${pair.x}=` }],
    ['a point that is not on the curve', { ...publicJwk, y: flipped.toString('base64url') }],
  ])('refuses %s as a public key', (_name, value) => {
    expect(() => readPublicKey(value)).toThrow(expect.objectContaining({ code: 'jwk_invalid' }));
  });

  it.each<[string, unknown]>([
    ['without d', publicJwk],
    ['with the d of another key', { ...pair, d: other.d }],
    ['with a d of zero', { ...pair, d: Buffer.alloc(48).toString('base64url') }],
  ])('refuses a private key %s, and never quotes it', (_name, value) => {
    expect(() => readPrivateKey(value)).toThrow(expect.objectContaining({ code: 'jwk_invalid' }));
    expect(() => readPrivateKey(value)).not.toThrow(d);
  });
});
