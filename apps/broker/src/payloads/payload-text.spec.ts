import fc from 'fast-check';
import { bytesOf, textOf } from './payload-text.js';

describe('payloads in JSON', () => {
  it('any bytes go out and come back the same, whatever encoding was chosen for them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { text, encoding } = textOf(bytes, undefined);
        expect(new Uint8Array(bytesOf(text, encoding))).toEqual(bytes);
      }),
    );
  });

  it('any well-formed text is the same text again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(textOf(bytesOf(text, 'utf8'), undefined)).toEqual({ text, encoding: 'utf8' });
      }),
    );
  });

  it('keeps a byte order mark, which is content', () => {
    const bytes = Uint8Array.of(0xef, 0xbb, 0xbf, 0x61);
    expect(new Uint8Array(bytesOf(textOf(bytes, 'utf8').text, 'utf8'))).toEqual(bytes);
  });

  it('gives base64 for bytes that are not text, unless text is asked for', () => {
    const bytes = Uint8Array.of(0xff, 0xfe);
    expect(textOf(bytes, undefined)).toEqual({ text: '//4=', encoding: 'base64' });
    expect(() => textOf(bytes, 'utf8')).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('gives base64 for text as well when that is asked for', () => {
    expect(textOf(Buffer.from('{}'), 'base64')).toEqual({ text: 'e30=', encoding: 'base64' });
  });

  it.each([
    ...['e30', 'e31=', 'e30=\n', 'e30_', '===='].map((text) => [text, 'base64'] as const),
    ...['a\udc00b', '\udfff\ud800'].map((text) => [text, 'utf8'] as const),
  ])('refuses %j as %s', (text, encoding) => {
    expect(() => bytesOf(text, encoding)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('says nothing of what it was given', () => {
    const secret = '4111111111111111é';
    try {
      bytesOf(secret, 'base64');
      throw new Error('it was accepted');
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain('4111');
    }
  });
});
