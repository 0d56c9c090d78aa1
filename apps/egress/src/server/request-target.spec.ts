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
    ['a part that stays', '/a/./b'],
    ['one at the end', '/a/..'],
    ['an encoded octet', '/a/%2e%2e/b'],
    ['an encoded slash', '/a%2Fb'],
    ['an empty part', '/a//b'],
    ['an empty part at its end', '/a/'],
    ['a parameter', '/a;x=1/b'],
    ['a backslash', '/a\\..\\b'],
    ['a control character', '/a\tb'],
    ['a line end', '/a\r\nx: y'],
    ['a letter beyond ASCII', '/á'],
    ['a fragment', '/a#b'],
    ['a fragment in the query', '/a?b#c'],
    ['a space in the query', '/a?b c'],
    ['no path', '?a=b'],
    ['nothing but the root', '/'],
    ['an absolute form', 'http://elsewhere.example/a'],
    ['an authority', 'elsewhere.example:443'],
    ['an asterisk', '*'],
    ['nothing', ''],
    ['no target', undefined],
  ])('is none with %s', (_what, url) => {
    expect(requestTargetOf(url)).toBeUndefined();
  });

  it('may have parts that only look like such ones', () => {
    expect(requestTargetOf('/a/.../..b/.c')?.path).toBe('/a/.../..b/.c');
  });

  it('has at most 4096 characters', () => {
    const longest = `/${'a'.repeat(4_095)}`;
    expect(requestTargetOf(longest)?.path).toBe(longest);
    expect(requestTargetOf(`${longest}a`)).toBeUndefined();
  });
});
