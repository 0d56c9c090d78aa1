// The files that programs read and never import: nest-cli.json lists them, and a build copies them into dist/ under the
// same paths. Also used on the Node.js of the machine, which may have no globSync, before the project's own is installed.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const { sourceRoot, compilerOptions } = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8'));

/** A name with `*` and `{one,other}` as a regular expression. */
const patternOf = (name) =>
  new RegExp(
    `^${name.replace(/[.*{},]/g, (one) => ({ '.': '\\.', '*': '[^/]*', '{': '(?:', '}': ')', ',': '|' })[one])}$`,
  );

/** @returns their paths in the checkout */
export function assetFiles() {
  return compilerOptions.assets.flatMap((asset) => {
    const folder = join(sourceRoot, dirname(asset));
    const pattern = patternOf(asset.slice(asset.lastIndexOf('/') + 1));
    return readdirSync(join(root, folder))
      .filter((file) => pattern.test(file))
      .map((file) => join(folder, file));
  });
}
