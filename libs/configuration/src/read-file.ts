import { isUtf8 } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { dirname, extname, isAbsolute, parse, resolve } from 'node:path';

type FileContent =
  | { readonly kind: 'text'; readonly text: string; readonly stats: Pick<Stats, 'mode' | 'uid'> }
  | { readonly kind: 'fault'; readonly problem: string; readonly isMissing: boolean };

/**
 * Reads a regular file of UTF-8 text. Devices and pipes are refused and the size is bounded, so that a wrong path can
 * neither hang the start nor fill the memory. Links are followed, because Kubernetes mounts secrets as links.
 * @returns the text, mode and owner of the file, or what is wrong with it, to be read after its name; never quotes the
 * content
 */
export async function readTextFile(path: string, maxBytes: number): Promise<FileContent> {
  const wrong = (problem: string): FileContent => ({ kind: 'fault', problem, isMissing: false });
  let handle: FileHandle | undefined;
  try {
    // Non-blocking: opening a pipe that nobody writes to would wait forever.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if (!stats.isFile()) return wrong('is not a regular file');
    const bytes = await readUpTo(handle, maxBytes + 1);
    if (bytes.length > maxBytes) return wrong(`is larger than ${maxBytes} bytes`);
    if (!isUtf8(bytes)) return wrong('is not UTF-8 text');
    // A decoder rather than toString: it removes the byte order mark that some editors write.
    const text = new TextDecoder().decode(bytes);
    bytes.fill(0);
    return { kind: 'text', text, stats };
  } catch (error) {
    return faultOf(error);
  } finally {
    await handle?.close();
  }
}

/** The size reported by `stat` may change while the file is being read. */
async function readUpTo(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(maxBytes);
  for (let length = 0; ;) {
    const { bytesRead } = await handle.read(buffer, length, maxBytes - length);
    length += bytesRead;
    if (bytesRead === 0 || length === maxBytes) return buffer.subarray(0, length);
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist; check the path',
  ENOTDIR: 'does not exist; a part of its path is not a folder',
  EACCES: 'may not be read by this user; check owner and permissions',
  EPERM: 'may not be read by this user; check owner and permissions',
};

/** A file that cannot be read is for the operator to fix, whatever the reason; anything else is a bug of ours. */
function faultOf(error: unknown): FileContent {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string' || !/^E[A-Z0-9]{1,20}$/.test(code)) throw error;
  return { kind: 'fault', problem: PROBLEMS[code] ?? `cannot be read (${code})`, isMissing: code === 'ENOENT' };
}

/** How many files are open, or inspected, at a time. */
const BATCH = 32;

/** Does something with each file, a batch at a time; the results are in the order of the files. */
export async function inBatches<File, Result>(
  files: readonly File[],
  work: (file: File) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < files.length; start += BATCH) {
    results.push(...(await Promise.all(files.slice(start, start + BATCH).map(work))));
  }
  return results;
}

const [OWNERS, GROUP, OTHERS] = [0o700, 0o070, 0o007];
const [GROUP_READ, GROUP_PASSES, OTHERS_PASS] = [0o040, 0o010, 0o001];
const ROOT = 0;

/**
 * Who else may open a secret file, in words; undefined if nobody. If the file belongs to another user, its group is the
 * broker's own way to read it: this is how Kubernetes mounts a Secret with `fsGroup`. Who may write it is a separate
 * matter.
 */
export function otherReaders(mode: number, isOwn: boolean): string | undefined {
  if ((mode & OTHERS) !== 0) return 'every user of the machine';
  const ofGroup = mode & GROUP;
  return ofGroup === 0 || (!isOwn && ofGroup === GROUP_READ) ? undefined : 'its group';
}

/**
 * The part of a file's mode that is usable by whoever can pass all folders on the way to it. To the file, members of a
 * folder's group may count as others, so the bits for others are then those of the group. A folder that belongs to
 * anybody but root and those who may read the file anyway keeps nobody out, since that user can open it.
 * @param file its path; links are followed
 * @param us the user of this process; undefined if the platform has no users
 */
export async function reachedMode(
  file: string,
  { mode, uid }: Pick<Stats, 'mode' | 'uid'>,
  us: number | undefined,
): Promise<number> {
  let reached = mode;
  let path = await realpath(file);
  while (path !== dirname(path)) {
    path = dirname(path);
    const folder = await stat(path);
    if (![ROOT, uid, us].includes(folder.uid) || (folder.mode & OTHERS_PASS) !== 0) continue;
    if ((folder.mode & GROUP_PASSES) === 0) return mode & OWNERS;
    reached = (mode & ~OTHERS) | ((mode & OTHERS) << 3);
  }
  return reached;
}

/** The kinds of file that this product reads. */
const EXTENSIONS: ReadonlySet<string> = new Set(
  'crt cer key p8 pem json jwk jwks pin secret token txt'.split(' ').map((extension) => `.${extension}`),
);
const MAX_NAME_LENGTH = 255;
export const PATH_NOT_SHOWN = 'the value is not shown, as it may be the secret itself: write a path as ./name';

/**
 * Where a file was looked for, as an absolute path. Undefined if the setting may hold the secret itself, pasted in place
 * of the path. A path is recognised by a file extension, by a beginning such as `../`, or because the file or a folder
 * on the way to it exists; the root and the folder where relative names start do not count.
 */
export async function shownPath(file: string, folder: string): Promise<string | undefined> {
  const path = resolve(folder, file);
  // PEM and JSON are no path, even with a slash or a dot in them.
  if (/-----|[{}"]/.test(file) || path.split('/').some((name) => name.length > MAX_NAME_LENGTH)) return undefined;
  if (EXTENSIONS.has(extname(file).toLowerCase()) || /^\.\.?\//.test(file)) return path;
  const { root } = parse(path);
  const start = isAbsolute(file) ? root : resolve(folder);
  for (let each = path; each !== root && each !== start; each = dirname(each)) {
    if (await isThere(each)) return path;
  }
  return undefined;
}

const isThere = (path: string): Promise<boolean> => stat(path).then(Boolean, () => false);

/** To be read after what is wrong with a file: where it was looked for, or why that is not shown. */
export async function whereLookedFor(file: string, folder: string): Promise<string> {
  const path = await shownPath(file, folder);
  return path === undefined ? `; ${PATH_NOT_SHOWN}` : `: ${path}`;
}
