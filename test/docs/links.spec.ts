import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTree } from './documentation-tree.js';
import { brokenLinks, missingFiles, unknownScripts, unreachablePages } from './link-checks.js';

const root = join(import.meta.dirname, '..', '..');
const INDEX = 'docs/README.md';

describe('the documentation', () => {
  const tree = readTree(root);
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };

  it('is found, so that the tests below have something to check', () => {
    expect(tree.pages.size).toBeGreaterThan(60);
    expect([...tree.pages.values()].flatMap(({ targets }) => targets).length).toBeGreaterThan(100);
    expect([...tree.pages.values()].flatMap((page) => page.scripts).length).toBeGreaterThan(20);
  });

  it('links to files and headings that are there', () => {
    expect(brokenLinks(tree)).toEqual([]);
  });

  it('names scripts that package.json has', () => {
    expect(unknownScripts(tree, Object.keys(scripts))).toEqual([]);
  });

  it('names files that are there', () => {
    expect([...tree.pages.values()].flatMap(({ files }) => files).length).toBeGreaterThan(20);
    expect(missingFiles(tree)).toEqual([]);
  });

  it('leads nowhere in the clone from the manual of the client package, which is installed without it', () => {
    const { targets } = tree.pages.get('libs/client/README.md')!;
    expect(targets.filter((target) => !/^(?:#|https:)/.test(target))).toEqual([]);
  });

  it('is reached from its index, page by page', () => {
    expect(unreachablePages(tree, INDEX)).toEqual([]);
  });
});
