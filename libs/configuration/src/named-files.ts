import { isUtf8 } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import type { TokenUse } from '#libs/pkcs11';
import { childPath, type Fault } from './fault.js';
import type { ContentRule, FileName, Single } from './value-rule.js';

/** A file that a configuration names. */
export interface NamedFile {
  /** The setting that names it, e.g. `merchants[0].clientKeyFiles[1]`. */
  readonly path: string;
  /** As written: a relative one starts at the folder of the configuration file. */
  readonly file: string;
  /** `secret`: nobody else should read it. */
  readonly content: ContentRule<unknown>['kind'];
}

/** A file with the rule for its content. */
export interface FileSetting extends Omit<NamedFile, 'content'> {
  readonly rule: ContentRule<unknown>;
}

interface ReadFiles {
  /** The content of each file, by the path of its setting; undefined if there is a fault. */
  readonly contents: ReadonlyMap<string, unknown>;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

/**
 * Settings with the contents of files in place of their names: `certFile` becomes `cert`, `clientKeyFiles` becomes
 * `clientKeys`.
 */
export type Loaded<T> =
  T extends FileName<infer Content>
    ? Content
    : T extends Single | undefined
      ? T
      : T extends readonly (infer Item)[]
        ? readonly Loaded<Item>[]
        : { readonly [Key in keyof T as LoadedKey<Key>]: Loaded<T[Key]> };

type LoadedKey<Key> = Key extends `${infer Name}File` ? Name : Key extends `${infer Name}Files` ? `${Name}s` : Key;

/** `folder`: where relative names start. */
type Reading = { readonly folder: string; readonly tokens: TokenUse };

export async function readFiles(files: readonly FileSetting[], reading: Reading): Promise<ReadFiles> {
  const contents = new Map<string, unknown>();
  const faults: Fault[] = [];
  const warnings: Fault[] = [];
  for (const file of files) {
    const { path, content, problem, warning } = await readOne(file, reading);
    contents.set(path, content);
    if (problem !== undefined) faults.push({ path, problem });
    if (warning !== undefined) warnings.push({ path, problem: warning });
  }
  return { contents, faults, warnings };
}

/** @param settings that the paths in `contents` refer to */
export function withContents<T>(settings: T, contents: ReadFiles['contents']): Loaded<T> {
  return replaced(settings, contents, '') as Loaded<T>;
}

function replaced(value: unknown, contents: ReadFiles['contents'], path: string): unknown {
  if (typeof value === 'string') return contents.has(path) ? contents.get(path) : value;
  if (Array.isArray(value)) return value.map((item, index) => replaced(item, contents, childPath(path, index)));
  if (typeof value !== 'object' || value === null || value instanceof URL) return value;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [
    name.replace(/File(s?)$/, '$1'),
    replaced(member, contents, childPath(path, name)),
  ]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

type ReadFile = Pick<NamedFile, 'path'> & {
  readonly content?: unknown;
  readonly problem?: string;
  readonly warning?: string;
};

async function readOne({ path, file, rule }: FileSetting, { folder, tokens }: Reading): Promise<ReadFile> {
  const name = resolve(folder, file);
  const found = await readTextFile(name, rule.maxBytes);
  if (found.kind === 'fault') {
    // Not the path itself: it may be the secret, pasted in its place.
    const problem = `names a file that ${found.problem}${isAbsolute(file) ? '' : `; relative paths begin at ${folder}`}`;
    if (rule.without === undefined) return { path, problem };
    return { path, content: name, warning: `${problem}; until it can be read, ${rule.without}` };
  }
  const read = { path, ...(await rule.read(found.text, name, tokens)) };
  if (rule.kind !== 'secret' || rule.without !== undefined) return read;
  const readers = otherReaders(found.stats.mode, found.stats.uid === process.getuid?.());
  if (readers === undefined) return read;
  return { ...read, warning: `names a secret file that is open to ${readers}; set its mode to 0600 or 0400` };
}

const [GROUP, OTHERS, GROUP_READ] = [0o070, 0o007, 0o040];

/**
 * Who else may open a secret file, in words; undefined if nobody. If the file belongs to another user, its group is the
 * broker's own way to read it: this is how Kubernetes mounts a Secret with `fsGroup`.
 */
export function otherReaders(mode: number, isOwn: boolean): string | undefined {
  if ((mode & OTHERS) !== 0) return 'every user of the machine';
  const ofGroup = mode & GROUP;
  return ofGroup === 0 || (!isOwn && ofGroup === GROUP_READ) ? undefined : 'its group';
}

type FileContent =
  | { readonly kind: 'text'; readonly text: string; readonly stats: Pick<Stats, 'mode' | 'uid'> }
  | { readonly kind: 'fault'; readonly problem: string };

/**
 * Reads a regular file of UTF-8 text. Devices and pipes are refused and the size is bounded, so that a wrong path can
 * neither hang the start nor fill the memory. Links are followed, because Kubernetes mounts secrets as links.
 * @returns the text, mode and owner of the file, or what is wrong with it, to be read after its name; never quotes the
 * content
 */
export async function readTextFile(path: string, maxBytes: number): Promise<FileContent> {
  const wrong = (problem: string): FileContent => ({ kind: 'fault', problem });
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
  return { kind: 'fault', problem: PROBLEMS[code] ?? `cannot be read (${code})` };
}
