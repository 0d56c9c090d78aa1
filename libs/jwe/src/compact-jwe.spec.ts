import fc from 'fast-check';
import { BrokerError } from '#libs/errors';
import { isBase64url, isBase64urlOf } from './base64url.js';
import { readCompactJwe } from './compact-jwe.js';

type Header = Record<string, unknown>;

const MAX_BYTES = 4_096;
const zeros = (count: number): string => Buffer.alloc(count).toString('base64url');
const epk = { kty: 'EC', crv: 'P-384', x: zeros(48), y: zeros(48) };
const HEADER: Header = { alg: 'ECDH-ES+A256KW', enc: 'A256GCM', epk };

const encoded = (header: unknown): string => Buffer.from(JSON.stringify(header)).toString('base64url');
/** Of the right shape and lengths: nothing more is checked here. */
const shaped = (parts: Partial<Record<'header' | 'key' | 'iv' | 'ciphertext' | 'tag', string>> = {}): string =>
  [
    parts.header ?? encoded(HEADER),
    parts.key ?? zeros(40),
    parts.iv ?? zeros(12),
    parts.ciphertext ?? zeros(3),
    parts.tag ?? zeros(16),
  ].join('.');
const withHeader = (change: Header): string => shaped({ header: encoded({ ...HEADER, ...change }) });
const withEpk = (change: Header): string => withHeader({ epk: { ...epk, ...change } });

function refusalOf(jwe: string): { code: string; publicDetail: string | undefined } | undefined {
  try {
    readCompactJwe(jwe, MAX_BYTES);
    return undefined;
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    return { code: error.code, publicDetail: error.publicDetail };
  }
}

describe('the faults of a JWE that show without a key', () => {
  it('are not there in one that has the right shape', () => {
    expect(refusalOf(shaped())).toBeUndefined();
  });

  it('are told to the sender: too long', () => {
    const publicDetail = 'a compact JWE of at most 4096 bytes is accepted';
    expect(refusalOf('A'.repeat(MAX_BYTES + 1))).toEqual({ code: 'jwe_too_large', publicDetail });
  });

  it.each([
    ['a compact JWE is five parts of unpadded base64url, separated by dots', shaped().split('.').slice(1).join('.')],
    ['a compact JWE is five parts of unpadded base64url, separated by dots', `${shaped()}.AAAA`],
    ['a compact JWE is five parts of unpadded base64url, separated by dots', `${shaped()}\n`],
    ['a compact JWE is five parts of unpadded base64url, separated by dots', shaped({ header: '' })],
    ['the protected header is longer than 2 KiB', shaped({ header: 'A'.repeat(2_049) })],
    ['the protected header is not JSON in UTF-8', shaped({ header: 'A'.repeat(2_048) })],
    ['the protected header is not base64url', shaped({ header: 'e31' })],
    ['the protected header is not a JSON object', shaped({ header: encoded([]) })],
    ['the protected header is not a JSON object', shaped({ header: encoded(null) })],
    ['the header member "crit" is not accepted', withHeader({ crit: [] })],
    ['the header member "jku" is not accepted', withHeader({ jku: 'https://attacker.example/' })],
    ['the header member "jwk" is not accepted', withHeader({ jwk: epk })],
    ['the header member "x5u" is not accepted', withHeader({ x5u: 'https://attacker.example/' })],
    ['the header member "x5c" is not accepted', withHeader({ x5c: ['MII'] })],
    ['"epk" must be a JSON object', withHeader({ epk: 'text' })],
    ['"epk" must be an EC key on P-384', withEpk({ kty: 'OKP' })],
    ['"epk" must be an EC key on P-384', withEpk({ crv: 'P-256' })],
    ['"epk" must not carry "d"', withEpk({ d: zeros(48) })],
    ['"epk" must give "x" in 48 octets', withEpk({ x: zeros(47) })],
    ['"epk" must give "y" in 48 octets', withEpk({ y: zeros(49) })],
    ['"apu" must be base64url', withHeader({ apu: { a: 1 } })],
    ['"apv" must be base64url', withHeader({ apv: 'Zg==' })],
    ['the encrypted key is not 40 octets', shaped({ key: zeros(24) })],
    ['the ciphertext is not base64url', shaped({ ciphertext: 'A' })],
    ['the initialization vector is not 12 octets', shaped({ iv: zeros(16) })],
    ['the authentication tag is not 16 octets', shaped({ tag: zeros(12) })],
  ])('are told to the sender: %s', (publicDetail, jwe) => {
    expect(refusalOf(jwe)).toEqual({ code: 'jwe_malformed', publicDetail });
  });

  it.each([
    ['"alg" must be "ECDH-ES+A256KW"', withHeader({ alg: 'dir' })],
    ['"enc" must be "A256GCM"', withHeader({ enc: 'A128GCM' })],
    ['"zip" is not accepted: compression reveals lengths and invites bombs', withHeader({ zip: 'DEF' })],
  ])('are told to the sender: %s', (publicDetail, jwe) => {
    expect(refusalOf(jwe)).toEqual({ code: 'jwe_algorithm_refused', publicDetail });
  });

  it('include octets that are not UTF-8 where a lenient reader would see a text', () => {
    const text = Buffer.from(JSON.stringify({ ...HEADER, kid: '#' }));
    text[text.indexOf('#')] = 0xff;
    expect(refusalOf(shaped({ header: text.toString('base64url') }))).toMatchObject({
      publicDetail: 'the protected header is not JSON in UTF-8',
    });
  });
});

const bytes = fc.uint8Array({ maxLength: 200 });
const encode = (octets: Uint8Array): string => Buffer.from(octets).toString('base64url');

describe('strict base64url', () => {
  it('accepts what an encoder writes, and knows its length', () => {
    fc.assert(
      fc.property(bytes, (octets) => {
        expect(isBase64url(encode(octets))).toBe(true);
        expect(isBase64urlOf(encode(octets), octets.length)).toBe(true);
        expect(isBase64urlOf(encode(octets), octets.length + 1)).toBe(false);
      }),
    );
  });

  it('accepts exactly one text for any octets', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ABQgwz09-_+/= \n'), maxLength: 9 }), (text) => {
        const isItsOwnEncoding = encode(Buffer.from(text, 'base64url')) === text;
        expect(isBase64url(text)).toBe(isItsOwnEncoding);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([undefined, null, 7, ['AAAA'], { length: 4 }])('refuses %j, which is not text', (value) => {
    expect(isBase64urlOf(value, 3)).toBe(false);
  });
});
