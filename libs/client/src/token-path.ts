import { stat } from 'node:fs/promises';
import { dirname, extname, parse, resolve } from 'node:path';

/** Of files that hold a token, or that somebody may take for one. */
const EXTENSIONS: readonly string[] = ['.jwt', '.key', '.secret', '.token', '.txt'];
/** How PEM begins, and JSON, and what has several lines: no path, wherever a slash or a dot stands in it. */
const CONTENT = /-----|[{}"\p{Cc}]/u;
const BESIDE_OR_ABOVE = /^\.\.?[\\/]/;
const SEPARATOR = /[\\/]/;
const MAX_PLAIN_LENGTH = 20;
const KINDS_OF_CHARACTERS = [/[a-z]/, /[A-Z]/, /\d/];

/**
 * Where a token file was looked for, from the root on. Undefined where the text may be the token itself, pasted in the
 * place of its path, which no message may repeat: a path is known by its beginning, by the extension of a file, by
 * something that is there on its way, or by folders whose names nobody would have drawn by lot.
 */
export async function shownTokenPath(file: string): Promise<string | undefined> {
  if (CONTENT.test(file)) return undefined;
  const isPath = BESIDE_OR_ABOVE.test(file) || EXTENSIONS.includes(extname(file)) || hasPlainFolders(file);
  return isPath || (await leadsSomewhere(file)) ? resolve(file) : undefined;
}

function hasPlainFolders(file: string): boolean {
  return SEPARATOR.test(file) && file.split(SEPARATOR).every(isPlain);
}

/** Base64 has letters of both cases and digits, in long runs. */
function isPlain(name: string): boolean {
  return name.length <= MAX_PLAIN_LENGTH && !KINDS_OF_CHARACTERS.every((kind) => kind.test(name));
}

/** Every text leads through the root, or through the folder in which the process runs: neither is a sign. */
async function leadsSomewhere(file: string): Promise<boolean> {
  const path = resolve(file);
  const outside = [parse(path).root, resolve()];
  for (let each = path; !outside.includes(each); each = dirname(each)) {
    if (await isThere(each)) return true;
  }
  return false;
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    // Whatever hides it: what is not known to be there is no sign.
    () => false,
  );
