import { posix } from 'node:path';
import type { DocumentationTree } from './documentation-tree.js';

interface Target {
  readonly path: string;
  readonly anchor: string;
}

const ELSEWHERE = /^([a-z][a-z0-9+.-]*:|\/\/)/i;

/** Links to files and headings that do not exist. */
export function brokenLinks(tree: DocumentationTree): readonly string[] {
  return [...tree.pages].flatMap(([from, { targets }]) =>
    targets.flatMap((written) => {
      const target = resolve(from, written);
      const fault = target === undefined ? undefined : faultOf(target, tree);
      return fault === undefined ? [] : [`${from}: ${written}: ${fault}`];
    }),
  );
}

/** Files that pages name in code and that do not exist: the evidence for a defence must be there. */
export function missingFiles({ pages, paths }: DocumentationTree): readonly string[] {
  return [...pages].flatMap(([path, { files }]) =>
    files.filter((file) => !paths.has(file)).map((file) => `${path}: ${file}`),
  );
}

/** Scripts that pages name and package.json does not have. */
export function unknownScripts(tree: DocumentationTree, scripts: readonly string[]): readonly string[] {
  return [...tree.pages].flatMap(([path, page]) =>
    page.scripts.filter((script) => !scripts.includes(script)).map((script) => `${path}: npm run ${script}`),
  );
}

/** Pages in the index's folder that no chain of links within it leads to. */
export function unreachablePages(tree: DocumentationTree, index: string): readonly string[] {
  const folder = `${posix.dirname(index)}/`;
  const reached = new Set([index]);
  // Iterating over a set includes what is added meanwhile.
  for (const from of reached) {
    for (const written of tree.pages.get(from)?.targets ?? []) {
      const path = resolve(from, written)?.path;
      if (path?.startsWith(folder) && tree.pages.has(path)) reached.add(path);
    }
  }
  return [...tree.pages.keys()].filter((path) => path.startsWith(folder) && !reached.has(path));
}

/** @returns undefined if it does not concern the repository */
function resolve(from: string, written: string): Target | undefined {
  if (ELSEWHERE.test(written)) return undefined;
  const [path = '', anchor = ''] = written.split('#', 2).map(decodeURIComponent);
  if (path === '') return { path: from, anchor };
  const resolved = path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(from), path);
  return { path: resolved.replace(/\/$/, ''), anchor };
}

function faultOf({ path, anchor }: Target, { paths, pages }: DocumentationTree): string | undefined {
  if (!paths.has(path)) return 'there is no such file';
  if (anchor === '' || pages.get(path)?.anchors.has(anchor) === true) return undefined;
  return 'there is no such heading';
}
