import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTree, treeOf } from './documentation-tree.js';
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

describe('a link', () => {
  const broken = (link: string, heading = '## Other'): readonly string[] =>
    brokenLinks(treeOf({ 'docs/here.md': link, 'docs/there.md': heading, 'src/main.ts': '' }));

  it.each([
    ['[to a page](there.md)'],
    ['[to a file](../src/main.ts)'],
    ['[from the root](/src/main.ts)'],
    ['[to a folder](../src/)'],
    ['[to a heading](there.md#other)'],
    ['# Own\n\n[to a heading of its own page](#own)'],
    ['[elsewhere](https://example.org/there.md#none)'],
    ['[by mail](mailto:nobody@example.org)'],
    ['`[in code](nowhere.md)`'],
    ['```md\n[in a block of code](nowhere.md)\n```'],
  ])('is right: %s', (link) => {
    expect(broken(link)).toEqual([]);
  });

  it.each([
    ['[to nothing](nowhere.md)', 'nowhere.md: there is no such file'],
    ['[in another case](There.md)', 'There.md: there is no such file'],
    ['[out of the repository](../../there.md)', '../../there.md: there is no such file'],
    ['![of an image](missing.png)', 'missing.png: there is no such file'],
    ['<img src="missing.png">', 'missing.png: there is no such file'],
    ['text <a href="nowhere.md">in HTML</a>', 'nowhere.md: there is no such file'],
    ['| a |\n| - |\n| [in a table](nowhere.md) |', 'nowhere.md: there is no such file'],
    ['- - [in a list](nowhere.md)', 'nowhere.md: there is no such file'],
    ['[by its name][name]\n\n[name]: nowhere.md', 'nowhere.md: there is no such file'],
    ['[to no heading](there.md#another)', 'there.md#another: there is no such heading'],
    ['[to no heading of its own](#other)', '#other: there is no such heading'],
    ['[into a file without headings](../src/main.ts#L1)', '../src/main.ts#L1: there is no such heading'],
  ])('is broken: %s', (link, fault) => {
    expect(broken(link)).toEqual([`docs/here.md: ${fault}`]);
  });

  it.each([
    ['## What `config check` says, and _when_', 'what-config-check-says-and-when'],
    ['## Read: `GET /v1/merchants/{merchant}/session`', 'read-get-v1merchantsmerchantsession'],
    ['## Twice\n\n## Twice', 'twice-1'],
    ['Underlined\n===', 'underlined'],
    ['## [With a link](#other) in it\n\n## Other', 'with-a-link-in-it'],
    ['<a id="made-by-hand"></a>', 'made-by-hand'],
  ])('finds its heading by the rules of GitHub: %s', (heading, anchor) => {
    expect(broken(`[there](there.md#${anchor})`, heading)).toEqual([]);
  });
});

describe('a script', () => {
  const unknown = (text: string): readonly string[] => unknownScripts(treeOf({ 'here.md': text }), ['cli', 'build']);

  it.each([['`npm run build`'], ['`npm run -s cli -- doctor`'], ['What `npm run` prints.'], ['npm start']])(
    'is right: %s',
    (text) => {
      expect(unknown(text)).toEqual([]);
    },
  );

  it.each([
    ['`npm run gone`', 'gone'],
    ['`npm run -s build:gone -- /tmp`', 'build:gone'],
    ['```sh\nnpm ci && npm run gone\n```', 'gone'],
    ['a line that ends in `npm run\ngone`', 'gone'],
  ])('is unknown: %s', (text, script) => {
    expect(unknown(text)).toEqual([`here.md: npm run ${script}`]);
  });
});

describe('a file that is named in code', () => {
  const missing = (text: string): readonly string[] =>
    missingFiles(treeOf({ 'docs/here.md': text, 'libs/session/src/index.ts': '' }));

  it('is right when it is there, and when it is not one of the repository', () => {
    expect(missing('`libs/session/src/index.ts`, `/run/secrets/shop.json`, `index.ts`, `libs/*/src`')).toEqual([]);
  });

  it('is missing when it is not', () => {
    expect(missing('| shown by |\n| - |\n| `libs/session/src/gone.ts` |')).toEqual([
      'docs/here.md: libs/session/src/gone.ts',
    ]);
  });
});

describe('a page', () => {
  const files = {
    'docs/README.md': '[one](one.md)',
    'docs/one.md': '[two](more/two.md#two) and [out](../CONTRIBUTING.md)',
    'docs/more/two.md': '# Two',
    'docs/lost.md': '[one](one.md) links and is not linked',
    'docs/by-a-detour.md': '',
    'CONTRIBUTING.md': '[a way that leaves the folder](docs/by-a-detour.md)',
  };

  it('is unreachable when no page of its folder that is reached links it', () => {
    expect(unreachablePages(treeOf(files), 'docs/README.md')).toEqual(['docs/lost.md', 'docs/by-a-detour.md']);
  });

  it('is unreachable when there is no index', () => {
    expect(unreachablePages(treeOf({ 'docs/one.md': '' }), 'docs/README.md')).toEqual(['docs/one.md']);
  });
});
