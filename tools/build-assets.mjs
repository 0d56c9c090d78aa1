// The files that programs read and never import, which a build copies into dist/ under the same paths. Also used on the
// Node.js of the machine, before the project's own is installed.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The pages that runbooks lead to. */
const linkedPages = [
  'authentication',
  'command-line',
  'disasters',
  'errors',
  'hsm',
  'key-rotation',
  'operating',
  'redis',
  'reload',
  'status-page',
];

const filesIn = (folder, name) =>
  readdirSync(join(root, folder))
    .filter((file) => name.test(file))
    .map((file) => join(folder, file));

/** @returns their paths in the checkout */
export function assetFiles() {
  return [
    ...filesIn('libs/status-page/src/page', /\.(?:html|css|js|svg)$/),
    ...filesIn('docs/runbooks', /\.md$/),
    ...linkedPages.map((page) => join('docs', `${page}.md`)),
  ];
}
