// Makes the runbooks, and the pages of docs that are served with them, readable in a browser: each .md gets an .html
// next to it. They are made with the programs, so that no program has to parse Markdown.
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import GithubSlugger from 'github-slugger';
import { Marked, Renderer } from 'marked';

const STYLE = 'runbooks/runbooks.css';
const styleSource = join(dirname(dirname(fileURLToPath(import.meta.url))), 'libs/status-page/src', STYLE);

const ELSEWHERE = /^[a-z][a-z0-9+.-]*:|^\/\//i;

/** Writes `x.html` next to each `x.md` of a folder of docs, and the stylesheet that they share. */
export function writeRunbookPages(folder) {
  const names = globSync('**/*.md', { cwd: folder });
  const served = new Set(names.map((name) => normalize(name)));
  for (const name of names) {
    const markdown = readFileSync(join(folder, name), 'utf8');
    writeFileSync(join(folder, name.replace(/\.md$/, '.html')), pageOf(markdown, { name, served }));
  }
  copyFileSync(styleSource, join(folder, STYLE));
}

function pageOf(markdown, { name, served }) {
  // Relative, so that a page also works behind a proxy that serves it under a path.
  const up = dirname(name) === '.' ? './' : '../';
  const title = escaped((/^# (.+)$/m.exec(markdown)?.[1] ?? name).replaceAll('`', ''));
  const isServed = (href) => served.has(normalize(join(dirname(name), href.replace(/#.*$/, ''))));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – session broker</title>
<link rel="icon" href="${up}status/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}${STYLE}">
</head>
<body>
<nav aria-label="Pages"><a href="${up}">Status page</a> <a href="${up}runbooks/">All runbooks</a></nav>
<main>
${rendererOf(isServed).parse(markdown)}</main>
</body>
</html>
`;
}

/**
 * Renders as GitHub does, except for what is not served here: such a link becomes its text, and pictures and HTML are
 * dropped.
 */
function rendererOf(isServed) {
  const slugger = new GithubSlugger();
  return new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const id = slugger.slug(this.parser.parseInline(tokens, this.parser.textRenderer));
        return `<h${depth} id="${escaped(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const leads = href.startsWith('#') || ELSEWHERE.test(href) || isServed(href);
        return leads ? `<a href="${escaped(href)}">${text}</a>` : text;
      },
      image: ({ text }) => escaped(text),
      html: () => '',
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`,
      table(token) {
        // Anything wider than a phone scrolls by itself, with the keyboard as well.
        const table = Renderer.prototype.table.call(this, token);
        return `<div class="wide" tabindex="0">${table}</div>\n`;
      },
    },
  });
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
