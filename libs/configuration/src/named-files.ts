import { isAbsolute, resolve } from 'node:path';
import type { TokenUse } from '#libs/pkcs11';
import { childPath, type Fault, type Warning } from './fault.js';
import { inBatches, otherReaders, reachedMode, readTextFile, whereLookedFor } from './read-file.js';
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
  readonly warnings: readonly Warning[];
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

interface ReadingFiles {
  /** Where relative names start. */
  readonly folder: string;
  readonly tokens: TokenUse;
}

export async function readFiles(files: readonly FileSetting[], reading: ReadingFiles): Promise<ReadFiles> {
  const contents = new Map<string, unknown>();
  const faults: Fault[] = [];
  const warnings: Warning[] = [];
  for (const { path, content, problem, warning } of await inBatches(files, (file) => readOne(file, reading))) {
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

interface ReadFile {
  readonly path: string;
  readonly content?: unknown;
  readonly problem?: string;
  readonly warning?: string;
}

async function readOne({ path, file, rule }: FileSetting, { folder, tokens }: ReadingFiles): Promise<ReadFile> {
  const name = resolve(folder, file);
  const found = await readTextFile(name, rule.maxBytes);
  if (found.kind === 'fault') {
    const start = found.isMissing && !isAbsolute(file) ? ', which is relative to the folder of the configuration' : '';
    const problem = `names a file that ${found.problem}${start}${await whereLookedFor(file, folder)}`;
    if (rule.without === undefined) return { path, problem };
    return { path, content: name, warning: `${problem}; until it can be read, ${rule.without}` };
  }
  const read = { path, ...(await rule.read(found.text, name, tokens)) };
  const isOwn = found.stats.uid === process.getuid?.();
  // For most files, the mode alone shows that nobody else can read them.
  if (rule.kind !== 'secret' || rule.without !== undefined || otherReaders(found.stats.mode, isOwn) === undefined)
    return read;
  const readers = otherReaders(await reachedMode(name, found.stats, process.getuid?.()), isOwn);
  if (readers === undefined) return read;
  return { ...read, warning: `names a secret file that is open to ${readers}; set its mode to 0600 or 0400` };
}
