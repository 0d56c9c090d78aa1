import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type MarkdownPage, readPage } from './markdown-page.js';

/** Every path of a repository, and its Markdown pages by path. */
export interface DocumentationTree {
  readonly paths: ReadonlySet<string>;
  readonly pages: ReadonlyMap<string, MarkdownPage>;
}

/** @param texts by path, with `/` between folders */
function treeOf(texts: Readonly<Record<string, string>>): DocumentationTree {
  const files = Object.keys(texts);
  const pages = files
    .filter((path) => path.endsWith('.md'))
    .map((path): [string, MarkdownPage] => [path, readPage(texts[path] ?? '')]);
  return { paths: new Set(files.flatMap(withFolders)), pages: new Map(pages) };
}

/** The repository as cloned: what .gitignore lists is left out, so that no link leads to build output. */
export function readTree(root: string): DocumentationTree {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n');
  const folders = new Set(['.git', ...ignored.filter((line) => line.endsWith('/')).map((line) => line.slice(0, -1))]);
  const texts: Record<string, string> = {};
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory() && !folders.has(entry.name)) visit(path);
      if (entry.isFile()) texts[path] = path.endsWith('.md') ? readFileSync(join(root, path), 'utf8') : '';
    }
  };
  visit('');
  return treeOf(texts);
}

function withFolders(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === '.' ? [path] : [path, ...withFolders(folder)];
}
