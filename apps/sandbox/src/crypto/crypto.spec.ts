import { generateKeyPairSync } from 'node:crypto';
import { openCompact, sealCompact } from './compact-jwe.js';
import { generateKeyPair, readPrivateKey, readPublicKey } from './ec-key.js';

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
    ['a private key', pair],
    ['another curve', { ...publicJwk, crv: 'P-256' }],
    ['another algorithm', { ...publicJwk, alg: 'ECDH-ES' }],
    ['a short coordinate', { ...publicJwk, x: 'AAAA' }],
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
