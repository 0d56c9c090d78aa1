import { stat } from 'node:fs/promises';
import { dirname, extname, parse, resolve } from 'node:path';

/** Of files that hold a token, or that someone may take for such a file. */
const EXTENSIONS: readonly string[] = ['.jwt', '.key', '.secret', '.token', '.txt'];
/** Signs of PEM, of JSON or of several lines: not a path, even if it contains a slash or a dot. */
const CONTENT = /-----|[{}"\p{Cc}]/u;
const BESIDE_OR_ABOVE = /^\.\.?[\\/]/;
const SEPARATOR = /[\\/]/;
const MAX_PLAIN_LENGTH = 20;
const KINDS_OF_CHARACTERS = [/[a-z]/, /[A-Z]/, /\d/];

/**
 * The absolute path where a token file was looked for. Undefined if the text may be the token itself, pasted in place
 * of its path, which no message may repeat: a path is recognized by how it begins, by a file extension, by something
 * that exists along it, or by folders whose names do not look random.
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

/** Every text leads through the root, or through the process's working directory: neither is a sign. */
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
    // Whatever the reason: what is not known to exist is no sign.
    () => false,
  );
