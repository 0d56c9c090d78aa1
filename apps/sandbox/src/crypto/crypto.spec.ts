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

  it('names alg, enc and the ephemeral key in the header, in the order of the interface description', () => {
    const [header = ''] = sealCompact('text', own).split('.');
    const members = JSON.parse(Buffer.from(header, 'base64url').toString()) as { epk: object };
    expect(members).toMatchObject({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM' });
    expect(Object.keys(members.epk)).toEqual(['kty', 'x', 'y', 'crv']);
  });

  it.each([0, 1, 2, 3, 4])('does not open a JWE whose part %i was changed', (index) => {
    const parts = sealCompact('a longer text, so that every part can be changed', own).split('.');
    const part = parts[index] ?? '';
    parts[index] = (part.startsWith('A') ? 'B' : 'A') + part.slice(1);
    expect(() => openCompact(parts.join('.'), own)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^jwe_/) }),
    );
  });

  const encoded = (header: string): string =>
    `${Buffer.from(header).toString('base64url')}.AA.${'A'.repeat(16)}..${'A'.repeat(22)}`;
  it.each<[string, string, string]>([
    ['another enc', 'jwe_algorithm_refused', withHeader((header) => (header['enc'] = 'A128GCM'))],
    ['party information that is not base64url', 'jwe_malformed', withHeader((header) => (header['apu'] = '%'))],
    [
      'party information that the sealer did not use',
      'jwe_not_opened',
      withHeader((header) => (header['apu'] = 'QWxp')),
    ],
    ['a header that is not JSON', 'jwe_malformed', encoded('{}x')],
    ['a null header', 'jwe_malformed', encoded('null')],
    ['a short tag', 'jwe_malformed', 'e30.AA.AAAAAAAAAAAAAAAA.AA.AAAA'],
  ])('refuses %s', (_name, code, compact) => {
    expect(() => openCompact(compact, own)).toThrow(expect.objectContaining({ code }));
  });
});

describe('keys', () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ format: 'jwk' });
  const { d, ...publicJwk } = pair;

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
