import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import { lexer, type Token, walkTokens } from 'marked';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What other pages, and a reader, can expect of a Markdown page. */
interface Page {
  /** Targets of links and images as written, including those inside HTML. */
  readonly targets: string[];
  /** What can follow a `#`: headings by GitHub's rules, and HTML ids. */
  readonly anchors: Set<string>;
  /** Files of the repository named in code, from its root: `libs/session/src/index.ts`. */
  readonly files: string[];
}

const ATTRIBUTE = /\b(href|src|id|name)\s*=\s*"([^"]*)"/g;
const FILE = /^(?:apps|libs|test|deploy|docs|tools)\/[\w./-]+\.\w+$/;
const NPM_RUN = /\bnpm run\s+(?:-\S+\s+)*([a-z][\w:-]*)/g;
const ELSEWHERE = /^([a-z][a-z0-9+.-]*:|\/\/)/i;

function pageOf(path: string): Page {
  const page: Page = { targets: [], anchors: new Set(), files: [] };
  const slugger = new GithubSlugger();
  void walkTokens(lexer(read(path)), (token) => {
    if (token.type === 'link' || token.type === 'image') page.targets.push((token as { href: string }).href);
    if (token.type === 'codespan' && FILE.test((token as { text: string }).text))
      page.files.push((token as { text: string }).text);
    if (token.type === 'heading') page.anchors.add(slugger.slug(plainText(token)));
    if (token.type !== 'html') return;
    for (const [, name, value = ''] of token.raw.matchAll(ATTRIBUTE)) {
      if (name === 'href' || name === 'src') page.targets.push(value);
      else page.anchors.add(value);
    }
  });
  return page;
}

/** As a reader sees it: without the marks of code, emphasis and links. */
function plainText(token: Token): string {
  if ('tokens' in token && token.tokens !== undefined) return token.tokens.map(plainText).join('');
  if (token.type === 'image' || token.type === 'html') return '';
  return 'text' in token ? (token.text as string) : token.raw;
}

/** Every file and folder as cloned: what .gitignore lists is left out, so that no link leads to build output. */
function pathsBelow(folder: string, leftOut: ReadonlySet<string>): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return leftOut.has(entry.name) ? [] : [path, ...pathsBelow(path, leftOut)];
    return entry.isFile() ? [path] : [];
  });
}

/** @returns undefined if it does not concern the repository */
function resolved(from: string, written: string): { readonly path: string; readonly anchor: string } | undefined {
  if (ELSEWHERE.test(written)) return undefined;
  const [path = '', anchor = ''] = written.split('#', 2).map(decodeURIComponent);
  if (path === '') return { path: from, anchor };
  const whole = path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(from), path);
  return { path: whole.replace(/\/$/, ''), anchor };
}

describe('the documentation', () => {
  const ignored = read('.gitignore').split('\n');
  const folders = ignored.filter((line) => line.endsWith('/')).map((line) => line.slice(0, -1));
  const paths = new Set(pathsBelow('', new Set(['.git', ...folders])));
  const pages = new Map([...paths].filter((path) => path.endsWith('.md')).map((path) => [path, pageOf(path)]));

  it('links to files and headings that are there', () => {
    const links = [...pages].flatMap(([from, { targets }]) => targets.map((written) => ({ from, written })));
    const broken = links.filter(({ from, written }) => {
      const { path, anchor } = resolved(from, written) ?? {};
      if (path === undefined) return false;
      return !paths.has(path) || (anchor !== '' && pages.get(path)?.anchors.has(anchor ?? '') !== true);
    });
    expect(links.length).toBeGreaterThan(100);
    expect(broken).toEqual([]);
  });

  it('names scripts that package.json has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: object };
    const named = [...pages.keys()].flatMap((path) => [...read(path).matchAll(NPM_RUN)].map(([, name]) => name));
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !Object.keys(scripts).includes(name ?? ''))).toEqual([]);
  });

  it('names files that are there: the evidence for a defence must be', () => {
    const named = [...pages.values()].flatMap(({ files }) => files);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((file) => !paths.has(file))).toEqual([]);
  });

  it('leads nowhere in the clone from the manual of the client package, which is installed without it', () => {
    const { targets } = pages.get('libs/client/README.md')!;
    expect(targets.filter((target) => !/^(?:#|https:)/.test(target))).toEqual([]);
  });

  it('is reached from its index, page by page', () => {
    const reached = new Set(['docs/README.md']);
    // Iterating over a set includes what is added meanwhile.
    for (const from of reached) {
      for (const written of pages.get(from)?.targets ?? []) {
        const path = resolved(from, written)?.path;
        if (path?.startsWith('docs/') && pages.has(path)) reached.add(path);
      }
    }
    expect([...pages.keys()].filter((path) => path.startsWith('docs/') && !reached.has(path))).toEqual([]);
  });
});
