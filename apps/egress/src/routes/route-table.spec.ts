import type { EgressRoute } from '#libs/configuration';
import { RouteTable } from './route-table.js';

const route = (path: string): EgressRoute => ({ path, body: 'clear', encrypted: [], maxBytes: 1 });
const matched = (path: string, ...patterns: string[]): string | undefined =>
  new RouteTable(patterns.map(route)).find(path)?.path;

describe('the routes', () => {
  it.each([
    ['/a/b', '/a/b'],
    ['/a/*/c', '/a/b/c'],
    ['/a/**', '/a/b'],
    ['/a/**', '/a/b/c/d'],
    ['/a/*/**', '/a/b/c'],
    ['/a/b.json', '/a/b.json'],
    ['/a/(b)+$', '/a/(b)+$'],
  ])('%s takes %s', (pattern, path) => {
    expect(matched(path, pattern)).toBe(pattern);
  });

  it.each([
    ['/a/b', '/a/b/'],
    ['/a/b', '/a/b/c'],
    ['/a/b', '/x/a/b'],
    ['/a/b', '/A/b'],
    ['/a/*', '/a/b/c'],
    ['/a/*', '/a/'],
    ['/a/**', '/a'],
    ['/a/**', '/a/'],
    ['/a/**', '/ab/c'],
    ['/a/b.json', '/a/bxjson'],
    ['/a/(b)+$', '/a/bb'],
  ])('%s does not take %s', (pattern, path) => {
    expect(matched(path, pattern)).toBeUndefined();
  });

  it('are asked in their order: the first that matches counts', () => {
    expect(matched('/a/b/c', '/a/b/**', '/a/**')).toBe('/a/b/**');
    expect(matched('/a/b/c', '/a/**', '/a/b/**')).toBe('/a/**');
    expect(matched('/x', '/a/b/**', '/a/**')).toBeUndefined();
  });
});
