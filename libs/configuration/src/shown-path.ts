import { stat } from 'node:fs/promises';
import { dirname, extname, isAbsolute, parse, resolve } from 'node:path';

/** Of what this product takes from files. */
const EXTENSIONS: ReadonlySet<string> = new Set([
  ...['.crt', '.cer', '.key', '.p8', '.pem'],
  ...['.json', '.jwk', '.jwks', '.pin', '.secret', '.token', '.txt'],
]);
const MAX_NAME_LENGTH = 255;
export const PATH_NOT_SHOWN = 'the value is not shown, as it may be the secret itself: write a path as ./name';
/** How PEM begins, and JSON: neither is a path, wherever a slash or a dot stands in it. */
const CONTENT = /-----|[{}"]/;
const BESIDE_OR_ABOVE = /^\.\.?\//;

/**
 * Where a file was looked for, from the root on, so that somebody who runs in another folder than he thinks can see it. Undefined where
 * the setting may hold the secret itself, pasted in the place of the path, and must not be repeated: a path is known by the extension of
 * a file, by a beginning such as `../`, or by something that is there, itself or a folder on its way. The root and, before a relative name, the
 * folder of the configuration are no such sign, since every text leads through one of the two.
 * @param file as written
 * @param folder where relative names start
 */
export async function shownPath(file: string, folder: string): Promise<string | undefined> {
  const path = resolve(folder, file);
  if (CONTENT.test(file) || path.split('/').some((name) => name.length > MAX_NAME_LENGTH)) return undefined;
  return isPathByName(file) || (await leadsSomewhere(file, folder)) ? path : undefined;
}

/** Whether a text can be seen to be a path, and no secret, without a look at any folder. */
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
    // Whatever hides it: what is not known to be there is no sign.
    () => false,
  );

/** To be read behind what is wrong with a file: where it was looked for, or why that is not said. */
export async function whereLookedFor(file: string, folder: string): Promise<string> {
  const path = await shownPath(file, folder);
  return path === undefined ? `; ${PATH_NOT_SHOWN}` : `: ${path}`;
}
