import fc from 'fast-check';
import { covers, routePath } from './value-rule.js';

const part = fc.constantFrom('a', 'b', 'c');
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
const pattern = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 3 }), fc.constantFrom(['**'], ['a'], ['*']))
  .map((parts) => `/${parts.flat().join('/')}`);

/** Implemented as a regular expression, independently of the code under test. */
const matches = (route: string, given: string): boolean =>
  new RegExp(`^${route.replaceAll(/\*\*|\*/g, (star) => (star === '*' ? '[^/]+' : '.+'))}$`).test(given);

describe('the path of a route', () => {
  it.each([
    '/pay',
    '/ecom/execute_request/**',
    '/ecom/*/status',
    '/**',
    '/*',
    '/v1/*/**',
    '/.well-known/a.b',
    "/a-b_c~1!$&'()+,;=:@",
  ])('can be %s', (text) => {
    expect(routePath.read(text)).toBeDefined();
  });

  it.each([
    ['nothing', ''],
    ['the root, which has an empty part', '/'],
    ['no slash at its beginning', 'ecom/pay'],
    ['a whole URL', 'https://gateway.example/ecom'],
    ['an empty part', '/ecom//pay'],
    ['a slash at its end', '/ecom/'],
    ['a part that leads up', '/ecom/../admin'],
    ['a part that leads nowhere', '/ecom/./pay'],
    ['an escape', '/ecom/%2e%2e/admin'],
    ['a query', '/ecom?a=b'],
    ['a fragment', '/ecom#a'],
    ['a backslash', '/ecom\\pay'],
    ['a blank', '/ecom/a b'],
    ['a line feed', '/ecom\n'],
    ['letters beyond ASCII', '/оплата'],
    ['a star inside a part', '/ecom/pay*'],
    ['two stars inside a part', '/ecom/**pay'],
    ['three stars', '/ecom/***'],
    ['two stars before the last part', '/**/pay'],
    ['more than anybody would write', `/${'a'.repeat(512)}`],
  ])('cannot have %s', (_what, text) => {
    expect(routePath.read(text)).toBeUndefined();
  });
});

describe('whether a route hides a later one', () => {
  it.each([
    ['/**', '/a'],
    ['/**', '/a/**'],
    ['/a/**', '/a/b/*'],
    ['/a/**', '/a/**'],
    ['/a/*', '/a/b'],
    ['/*/b', '/a/b'],
    ['/a/*/**', '/a/b/c/d'],
  ])('%s hides %s', (earlier, later) => {
    expect(covers(earlier, later)).toBe(true);
  });

  it.each([
    ['/a', '/**'],
    ['/a/**', '/a'],
    ['/a/*', '/a/**'],
    ['/a/b', '/a/*'],
    ['/a/*', '/a/b/c'],
    ['/a/*/**', '/a/b'],
    ['/a/*/**', '/a/**'],
    ['/a/b/**', '/a/**'],
    ['/A', '/a'],
  ])('%s does not hide all of %s', (earlier, later) => {
    expect(covers(earlier, later)).toBe(false);
  });

  it('is so if every path of the later one is one of the earlier one', () => {
    fc.assert(
      fc.property(pattern, pattern, path, (earlier, later, given) => {
        fc.pre(matches(later, given));
        if (covers(earlier, later)) expect(matches(earlier, given)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('is not so only if there is a path that proves it', () => {
    const letters = ['a', 'b', 'c'];
    const upTo = (length: number): string[] =>
      length === 0 ? [''] : ['', ...upTo(length - 1).flatMap((rest) => letters.map((letter) => `/${letter}${rest}`))];
    const paths = upTo(5);
    fc.assert(
      fc.property(pattern, pattern, (earlier, later) => {
        if (covers(earlier, later)) return;
        expect(paths.some((given) => matches(later, given) && !matches(earlier, given))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
