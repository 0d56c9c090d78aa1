import fc from 'fast-check';
import { isBase64url, isBase64urlOf } from './base64url.js';

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

  it.each(['A', 'AB', 'AAB', 'AA==', 'A+/A', 'AAAA\n', ' AAAA', 'AAAAA', 'ÄAAA'])('refuses %j', (text) => {
    expect(isBase64url(text)).toBe(false);
  });

  it.each([undefined, null, 7, ['AAAA'], { length: 4 }])('refuses %j, which is not text', (value) => {
    expect(isBase64urlOf(value, 3)).toBe(false);
  });
});
