import GithubSlugger from 'github-slugger';
import { lexer, type Token, walkTokens } from 'marked';

/** What other pages, and a reader, can expect of a Markdown page. */
export interface MarkdownPage {
  /** Targets of links and images as written, including those inside HTML. */
  readonly targets: readonly string[];
  /** What can follow a `#`: headings by GitHub's rules, and HTML ids. */
  readonly anchors: ReadonlySet<string>;
  /** Scripts named by `npm run`, in text and in code. */
  readonly scripts: readonly string[];
  /** Files of the repository named in code, from its root: `libs/session/src/index.ts`. */
  readonly files: readonly string[];
}

const ATTRIBUTE = /\b(href|src|id|name)\s*=\s*"([^"]*)"/g;
const FILE = /^(?:apps|libs|test|deploy|docs|tools)\/[\w./-]+\.\w+$/;
const NPM_RUN = /\bnpm run\s+(?:-\S+\s+)*([a-z][\w:-]*)/g;

export function readPage(text: string): MarkdownPage {
  const targets: string[] = [];
  const files: string[] = [];
  const anchors = new Set<string>();
  const slugger = new GithubSlugger();
  void walkTokens(lexer(text), (token) => {
    if (token.type === 'link' || token.type === 'image') targets.push((token as { href: string }).href);
    if (token.type === 'codespan' && FILE.test((token as { text: string }).text)) {
      files.push((token as { text: string }).text);
    }
    if (token.type === 'heading') anchors.add(slugger.slug(plainText(token)));
    if (token.type !== 'html') return;
    for (const [, name, value = ''] of token.raw.matchAll(ATTRIBUTE)) {
      if (name === 'href' || name === 'src') targets.push(value);
      else anchors.add(value);
    }
  });
  const scripts = [...text.matchAll(NPM_RUN)].map(([, script = '']) => script);
  return { targets, anchors, scripts, files };
}

/** As a reader sees it: without the marks of code, emphasis and links. */
function plainText(token: Token): string {
  if ('tokens' in token && token.tokens !== undefined) return token.tokens.map(plainText).join('');
  if (token.type === 'image' || token.type === 'html') return '';
  return 'text' in token ? (token.text as string) : token.raw;
}
