import { stat } from 'node:fs/promises';
import { dirname, extname, isAbsolute, parse, resolve } from 'node:path';

/** The kinds of file that this product reads. */
const EXTENSIONS: ReadonlySet<string> = new Set([
  ...['.crt', '.cer', '.key', '.p8', '.pem'],
  ...['.json', '.jwk', '.jwks', '.pin', '.secret', '.token', '.txt'],
]);
const MAX_NAME_LENGTH = 255;
export const PATH_NOT_SHOWN = 'the value is not shown, as it may be the secret itself: write a path as ./name';
/** How PEM and JSON begin: neither is a path, even with a slash or a dot in it. */
const CONTENT = /-----|[{}"]/;
const BESIDE_OR_ABOVE = /^\.\.?\//;

/**
 * Where a file was looked for, as an absolute path, so that somebody who runs in the wrong folder can see it. Undefined
 * if the setting may hold the secret itself, pasted in place of the path, which must not be repeated. A path is
 * recognised by a file extension, by a beginning such as `../`, or because the file or a folder on the way to it
 * exists. The root and, for a relative name, the folder of the configuration do not count, since every text leads
 * through one of the two.
 * @param file as written
 * @param folder where relative names start
 */
export async function shownPath(file: string, folder: string): Promise<string | undefined> {
  const path = resolve(folder, file);
  if (CONTENT.test(file) || path.split('/').some((name) => name.length > MAX_NAME_LENGTH)) return undefined;
  return isPathByName(file) || (await leadsSomewhere(file, folder)) ? path : undefined;
}

/** Whether a text is recognisably a path and not a secret, without looking at any folder. */
export function isPathByName(file: string): boolean {
  return !CONTENT.test(file) && (EXTENSIONS.has(extname(file).toLowerCase()) || BESIDE_OR_ABOVE.test(file));
}

async function leadsSomewhere(file: string, folder: string): Promise<boolean> {
  const path = resolve(folder, file);
  const { root } = parse(path);
  const start = isAbsolute(file) ? root : resolve(folder);
  for (let each = path; each !== root && each !== start; each = dirname(each)) {
    if (await isThere(each)) return true;
  }
  return false;
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    // Whatever hides it: what is not known to exist does not count.
    () => false,
  );

/** To be read after what is wrong with a file: where it was looked for, or why that is not shown. */
export async function whereLookedFor(file: string, folder: string): Promise<string> {
  const path = await shownPath(file, folder);
  return path === undefined ? `; ${PATH_NOT_SHOWN}` : `: ${path}`;
}
