import fc from 'fast-check';
import { requestTargetOf } from './request-target.js';

describe('the target of a request', () => {
  it('is a path, and the query with its question mark', () => {
    expect(requestTargetOf('/ecom/execute_request/hpp/v1/operations?x=%2e%2e/../a&y=[1]')).toEqual({
      path: '/ecom/execute_request/hpp/v1/operations',
      query: '?x=%2e%2e/../a&y=[1]',
    });
    expect(requestTargetOf('/a?')).toEqual({ path: '/a', query: '?' });
  });

  it.each([
    ['a part that goes up', '/a/../b'],
    ['an encoded octet', '/a/%2e%2e/b'],
    ['an empty part', '/a//b'],
    ['a parameter', '/a;x=1/b'],
    ['a backslash', '/a\\..\\b'],
    ['a fragment', '/a#b'],
    ['no path', '?a=b'],
    ['nothing but the root', '/'],
    ['an absolute form', 'http://elsewhere.example/a'],
    ['an asterisk', '*'],
    ['nothing', ''],
    ['no target', undefined],
  ])('is none with %s', (_what, url) => {
    expect(requestTargetOf(url)).toBeUndefined();
  });

  it('may have parts that only look like such ones', () => {
    expect(requestTargetOf('/a/.../..b/.c')?.path).toBe('/a/.../..b/.c');
  });

  it('has one slash at its front, however many a base URL with a slash at its end puts there', () => {
    expect(requestTargetOf('//ecom/execute_request/a?b=//c')).toEqual({
      path: '/ecom/execute_request/a',
      query: '?b=//c',
    });
    expect(requestTargetOf('///a')?.path).toBe('/a');
    expect(requestTargetOf('//')).toBeUndefined();
  });

  it('has at most 16 384 characters, as many as a whole body that is in the query as well', () => {
    const longest = `/a?${'b'.repeat(16_381)}`;
    expect(requestTargetOf(longest)?.query).toHaveLength(16_382);
    expect(requestTargetOf(`${longest}b`)).toBeUndefined();
  });
});

const pieces = fc.constantFrom(
  ...['/', '//', '.', '..', '%2e', '%2F', '\\', ';', '?', '#', '@', ':', '*', '+', '~', ' ', '\t', '\r\n', '\0'],
  ...['á', 'ecom', 'A-1_'],
);
const written = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
const targets = fc.oneof(
  written.map((text) => `/${text}`),
  written,
  fc.string({ unit: 'binary' }),
);

describe('the target of a request, whatever was sent', () => {
  it('is passed on as it was written, slashes at its front aside, or not at all, and can be read in one way', () => {
    fc.assert(
      fc.property(targets, (url) => {
        const target = requestTargetOf(url);
        if (target === undefined) return;
        const { path, query } = target;
        expect(path + query).toBe(url.replace(/^\/+/, '/'));
        expect(path).toMatch(/^\/[\x21-\x7e]+$/);
        expect(path).not.toMatch(/[%\\;?#]|\/\/|\/\.{1,2}(?:\/|$)/);
        // The URL standard, which some gateways follow, finds nothing to normalise either.
        expect(new URL(`http://gateway.test${path}`).pathname).toBe(path);
        // It ends no line of a request.
        expect(query).not.toMatch(/[\s\0\x7f-\uffff]/);
      }),
    );
  });
});
